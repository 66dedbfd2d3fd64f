internal import CZlib

/// Packs bytes as gzip does.
package enum GzipWriter {
    // The largest window, and 16 for the header and the checksum of gzip.
    private static let windowBits: Int32 = 15 + 16
    private static let memoryLevel: Int32 = 8

    /// The bytes as one member of a gzip file; the same bytes give the same member.
    ///
    /// - Parameter bytes: At most 1 GiB.
    /// - Returns: A member, complete with header and checksum.
    package static func member(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        var status = deflateInit2_(
            &stream,
            Z_DEFAULT_COMPRESSION,
            Z_DEFLATED,
            windowBits,
            memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        precondition(status == Z_OK, "zlib cannot start a stream: status \(status)")
        defer { deflateEnd(&stream) }
        var input = bytes
        let capacity = Int(deflateBound(&stream, UInt(bytes.count)))
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { output, written in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                status = deflate(&stream, Z_FINISH)
            }
            written = output.count - Int(stream.avail_out)
        }
        precondition(status == Z_STREAM_END, "zlib did not finish: status \(status)")
        return output
    }
}
