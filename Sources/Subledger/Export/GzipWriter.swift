internal import CZlib
internal import Events

/// Compresses bytes in gzip format as they arrive; the same bytes give the same file.
package final class GzipWriter {
    private let zlib: ZlibStream
    private let output = UnsafeMutableRawBufferPointer.allocate(
        byteCount: outputByteCount,
        alignment: 16
    )

    /// The most bytes that are passed on at once.
    private static let outputByteCount = 1 << 18

    // The largest window, and 16 for the header and the checksum of gzip.
    private static let windowBits: Int32 = 15 + 16
    private static let memoryLevel: Int32 = 8

    /// Creates a writer at the start of a member.
    ///
    /// - Parameter level: From 1, the fastest, to 9, the smallest.
    package init(level: Int = 6) {
        zlib = ZlibStream(
            start: { stream in
                deflateInit2_(
                    stream,
                    Int32(level),
                    Z_DEFLATED,
                    GzipWriter.windowBits,
                    GzipWriter.memoryLevel,
                    Z_DEFAULT_STRATEGY,
                    ZLIB_VERSION,
                    Int32(MemoryLayout<z_stream>.size)
                )
            },
            end: deflateEnd
        )
    }

    deinit { output.deallocate() }

    /// The bytes as one member of a gzip file, complete with header and checksum.
    ///
    /// - Parameter bytes: At most 1 GiB.
    /// - Returns: A member.
    package static func member(_ bytes: [UInt8]) -> [UInt8] {
        var member: [UInt8] = []
        GzipWriter().pack(bytes, isLast: true) { member.append(contentsOf: $0) }
        return member
    }

    /// Compresses bytes, and passes on the output that is ready.
    ///
    /// - Parameters:
    ///   - bytes: At most 1 GiB.
    ///   - isLast: Whether the member ends with them; nothing may follow then.
    ///   - take: Receives compressed bytes, which are valid only during its call.
    /// - Throws: What `take` throws; the member is then unusable.
    package func pack<E: Error>(
        _ bytes: [UInt8],
        isLast: Bool,
        _ take: (UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) {
        let stream = zlib.pointer
        var status = Z_OK
        var position = 0
        repeat {
            let room = UInt32(output.count)
            bytes.withUnsafeBufferPointer { input in
                // zlib only reads the buffer, and only during the call.
                stream.pointee.next_in = input.baseAddress.map {
                    UnsafeMutablePointer(mutating: $0 + position)
                }
                stream.pointee.avail_in = UInt32(input.count - position)
                stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
                stream.pointee.avail_out = room
                status = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                position = input.count - Int(stream.pointee.avail_in)
            }
            let count = Int(room - stream.pointee.avail_out)
            try take(UnsafeRawBufferPointer(rebasing: output[..<count]))
        } while stream.pointee.avail_out == 0 || position < bytes.count
        precondition(!isLast || status == Z_STREAM_END, "zlib did not finish: status \(status)")
    }
}
