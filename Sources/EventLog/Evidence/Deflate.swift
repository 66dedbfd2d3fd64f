internal import CZlib
internal import Events
internal import Synchronization

/// Raw deflate (RFC 1951) with a preset dictionary, using zlib.
///
/// May be called from any number of threads at once: every call borrows a stream of its own.
enum Deflate {
    // Measured on notifications: level 9 saves nothing, and level 5 costs five bytes.
    private static let level: Int32 = 6

    // The largest window, because the rows of a receipt repeat over tens of kilobytes.
    private static let windowBits: Int32 = 15

    private static let deflaters = ZlibStreams(
        start: { startDeflating($0, windowBits: windowBits, memoryLevel: 8) },
        end: deflateEnd
    )

    private static let inflaters = ZlibStreams(
        start: { stream in
            inflateInit2_(
                stream,
                -windowBits,
                ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)
            )
        },
        end: inflateEnd
    )

    /// The deflated bytes; nil if they are not fewer.
    static func deflate(_ bytes: [UInt8], dictionary: EvidenceDictionary) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count <= UInt32.max else { return nil }
        if let primed = dictionary.primed, bytes.count <= PrimedDeflater.byteCountMax {
            return primed.withCopy { finish(bytes, in: $0) }
        }
        return deflaters.borrowing { stream in
            guard deflateReset(stream) == Z_OK, setDictionary(dictionary.bytes, of: stream) else {
                return nil
            }
            return finish(bytes, in: stream)
        }
    }

    // zlib takes negative window bits for a stream without header and checksum, which a payload's
    // SHA-256 replaces.
    fileprivate static func startDeflating(
        _ stream: UnsafeMutablePointer<z_stream>,
        windowBits: Int32,
        memoryLevel: Int32
    ) -> Int32 {
        deflateInit2_(
            stream,
            level,
            Z_DEFLATED,
            -windowBits,
            memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
    }

    fileprivate static func setDictionary(
        _ dictionary: [UInt8],
        of stream: UnsafeMutablePointer<z_stream>
    ) -> Bool {
        deflateSetDictionary(stream, dictionary, UInt32(dictionary.count)) == Z_OK
    }

    private static func finish(
        _ bytes: [UInt8],
        in stream: UnsafeMutablePointer<z_stream>
    ) -> [UInt8]? {
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, written in
            bytes.withUnsafeBufferPointer { input in
                // zlib does not write to its input.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                isWhole = CZlib.deflate(stream, Z_FINISH) == Z_STREAM_END
            }
            written = output.count - Int(stream.pointee.avail_out)
        }
        return isWhole && output.count < bytes.count ? output : nil
    }

    /// The bytes that were deflated with this dictionary.
    ///
    /// Nil if the input is malformed, something follows it, or the result would exceed
    /// `byteCountMax`: no more than that is ever written, whatever the input claims.
    static func inflate(
        _ bytes: ArraySlice<UInt8>,
        dictionary: [UInt8],
        byteCountMax: Int
    ) -> [UInt8]? {
        guard bytes.count <= UInt32.max, dictionary.count <= UInt32.max, byteCountMax > 0 else {
            return nil
        }
        let byteCountMax = min(byteCountMax, Int(UInt32.max))
        return inflaters.borrowing { stream in
            guard inflateReset(stream) == Z_OK,
                inflateSetDictionary(stream, dictionary, UInt32(dictionary.count)) == Z_OK
            else { return nil }
            return bytes.withUnsafeBufferPointer { input in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.pointee.avail_in = UInt32(input.count)
                return inflate(stream, byteCountMax: byteCountMax)
            }
        }
    }

    // The buffer grows with the output, because a row that was tampered with may claim any size.
    private static func inflate(
        _ stream: UnsafeMutablePointer<z_stream>,
        byteCountMax: Int
    ) -> [UInt8]? {
        let guess = 8 * Int(stream.pointee.avail_in) + 1024
        var output = [UInt8](repeating: 0, count: min(guess, byteCountMax))
        var written = 0
        while true {
            let status = output.withUnsafeMutableBufferPointer { buffer in
                stream.pointee.next_out = buffer.baseAddress.map { $0 + written }
                stream.pointee.avail_out = UInt32(buffer.count - written)
                let status = CZlib.inflate(stream, Z_FINISH)
                written = buffer.count - Int(stream.pointee.avail_out)
                return status
            }
            if status == Z_STREAM_END {
                guard stream.pointee.avail_in == 0 else { return nil }
                output.removeLast(output.count - written)
                return output
            }
            guard status == Z_OK || status == Z_BUF_ERROR, written == output.count,
                written < byteCountMax
            else { return nil }
            let count = min(3 * written, byteCountMax - written)
            output.append(contentsOf: repeatElement(0, count: count))
        }
    }
}

/// A stream that has read a dictionary, to be copied for each short text.
///
/// Reading a dictionary of 7 kB takes as long as deflating a notification. A copy takes a fifth of
/// that, if window and tables are as small as short texts need them.
///
/// Unchecked, because the stream is never used after `init`, only copied.
final class PrimedDeflater: @unchecked Sendable {
    /// The longest text, in bytes: in a longer one, the window would leave behind the first bytes
    /// of a long dictionary, which are the rarest.
    static let byteCountMax = 2048

    // 8 kB, of which zlib keeps 262 bytes free.
    private static let windowBits: Int32 = 13
    private static let dictionaryByteCountMax = 8192 - 262
    private static let memoryLevel: Int32 = 5

    private let stream: ZlibStream

    /// Nil if the dictionary does not fit into the window.
    init?(dictionary: [UInt8]) {
        guard dictionary.count <= PrimedDeflater.dictionaryByteCountMax else { return nil }
        stream = ZlibStream(
            start: { stream in
                Deflate.startDeflating(
                    stream,
                    windowBits: PrimedDeflater.windowBits,
                    memoryLevel: PrimedDeflater.memoryLevel
                )
            },
            end: deflateEnd
        )
        let isRead = Deflate.setDictionary(dictionary, of: stream.pointer)
        precondition(isRead, "zlib refuses a dictionary at the start of a stream")
    }

    /// Runs with a copy of the stream.
    func withCopy<Result>(_ body: (UnsafeMutablePointer<z_stream>) -> Result?) -> Result? {
        var copy = z_stream()
        guard deflateCopy(&copy, stream.pointer) == Z_OK else { return nil }
        defer { _ = deflateEnd(&copy) }
        return body(&copy)
    }
}

/// zlib streams, kept between calls: starting one costs more than deflating a notification.
private final class ZlibStreams: Sendable {
    /// The most streams kept idle, of at most 0.3 MB each; each thread uses one at a time.
    private static let idleMax = 16

    private let idle = Mutex<[ZlibStream]>([])
    private let start: @Sendable (UnsafeMutablePointer<z_stream>) -> Int32
    private let end: @Sendable (UnsafeMutablePointer<z_stream>) -> Int32

    init(
        start: @escaping @Sendable (UnsafeMutablePointer<z_stream>) -> Int32,
        end: @escaping @Sendable (UnsafeMutablePointer<z_stream>) -> Int32
    ) {
        self.start = start
        self.end = end
    }

    /// Runs with a stream that no other call uses; the body resets it before use.
    func borrowing<Result>(_ body: (UnsafeMutablePointer<z_stream>) -> Result) -> Result {
        let stream = idle.withLock { $0.popLast() } ?? ZlibStream(start: start, end: end)
        defer {
            // A stream beyond the limit is released here.
            idle.withLock { if $0.count < ZlibStreams.idleMax { $0.append(stream) } }
        }
        return body(stream.pointer)
    }
}
