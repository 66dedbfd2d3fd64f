internal import CZlib
internal import Events

/// Decompresses gzip as a stream: returns complete data at once, and never more than a buffer.
///
/// A file may contain several members one after the other (RFC 1952 §2.2), as joined logs do. Zeros
/// after the last are padding.
package final class GzipReader {
    /// The result of a call.
    package enum Step {
        case bytes([UInt8])
        case needsInput
        case damaged
    }

    private let zlib = ZlibStream(
        start: { stream in
            inflateInit2_(
                stream,
                GzipReader.windowBits,
                ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)
            )
        },
        end: inflateEnd
    )
    private var stream: UnsafeMutablePointer<z_stream> { zlib.pointer }
    private var input: [UInt8] = []
    private var position = 0
    private var isInMember = true

    /// Bytes that are decompressed at once, however many the input claims to contain.
    package static let outputByteCountMax = 1 << 18

    // The largest window, and 16 for the header and the checksum of gzip.
    private static let windowBits: Int32 = 15 + 16

    /// Whether bytes begin like gzip.
    package static func recognises(_ head: [UInt8]) -> Bool {
        head.starts(with: [0x1f, 0x8b, 0x08])
    }

    /// A reader without input.
    package init() {}

    /// Whether the input may end here.
    package var isAtEndOfMember: Bool { !isInMember }

    /// Adds compressed bytes; all before them must have been decompressed.
    package func append(_ bytes: [UInt8]) { (input, position) = (bytes, 0) }

    /// The next bytes.
    package func next() -> Step {
        while true {
            if !isInMember {
                while position < input.count, input[position] == 0 { position += 1 }
                guard position < input.count else { return .needsInput }
                guard input[position] == 0x1f, inflateReset(stream) == Z_OK else {
                    return .damaged
                }
                isInMember = true
            }
            guard position < input.count || stream.pointee.avail_out == 0 else {
                return .needsInput
            }
            var status = Z_OK
            let output = unpack(&status)
            isInMember = status != Z_STREAM_END
            guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(status) else {
                return output.isEmpty ? .damaged : .bytes(output)
            }
            if !output.isEmpty { return .bytes(output) }
            if status == Z_BUF_ERROR, position == input.count { return .needsInput }
        }
    }

    private func unpack(_ status: inout Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: GzipReader.outputByteCountMax) { output, written in
            input.withUnsafeMutableBufferPointer { input in
                stream.pointee.next_in = input.baseAddress.map { $0 + position }
                stream.pointee.avail_in = UInt32(input.count - position)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                status = inflate(stream, Z_SYNC_FLUSH)
                position = input.count - Int(stream.pointee.avail_in)
            }
            written = output.count - Int(stream.pointee.avail_out)
        }
    }
}
