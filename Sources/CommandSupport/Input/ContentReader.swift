import AppStore
import Subledger

/// Reads a file's content, decompressed if its first bytes show that it is compressed.
final class ContentReader {
    private let file: InputFile
    private var packing = Packing.unknown
    private var isAtEnd = false
    /// What is wrong with the file after the bytes that were returned.
    private(set) var failure: Rejection?

    private enum Packing {
        case unknown
        case none
        case gzip(GzipReader)
        case zstd(ZstdProgram)
    }

    /// Bytes by which a compressed file is recognised.
    private static let headByteCount = 4

    /// A reader of a file from its current offset.
    init(_ file: InputFile) { self.file = file }

    /// Whether it never waits, because all of it is present.
    var isSeekable: Bool { file.isSeekable }

    /// Bytes read of a file, as stored; 0 for a pipe.
    var bytesRead: Int64 { file.offset }

    /// The next bytes; empty at the end, and if `failure` says why there are no more.
    func read() -> [UInt8] {
        do throws(InputFailure) {
            return try readUnpacked()
        } catch {
            return fail("It cannot be read: \(error.reason).")
        }
    }

    private func fail(_ sentence: String) -> [UInt8] {
        isAtEnd = true
        // After a request to stop, it is clear that the rest was not read.
        if !Interrupt.isRequested { failure = Rejection(.unreadable, sentence) }
        return []
    }

    private func readUnpacked() throws(InputFailure) -> [UInt8] {
        guard !isAtEnd else { return [] }
        switch packing {
        case .unknown: return try readFirst()
        case .none: return try file.read()
        case .gzip(let reader): return try read(reader)
        case .zstd(let program): return try read(program)
        }
    }

    private func readFirst() throws(InputFailure) -> [UInt8] {
        var head = try file.read()
        // Waits only while the bytes may still become a magic number.
        while !head.isEmpty, head.count < ContentReader.headByteCount,
            head[0] == 0x1f || head[0] == 0x28
        {
            let more = try file.read()
            guard !more.isEmpty else { break }
            head += more
        }

        if GzipReader.recognises(head) {
            let reader = GzipReader()
            reader.append(head)
            packing = .gzip(reader)
            return try read(reader)
        }

        guard ZstdProgram.recognises(head) else {
            packing = .none
            return head
        }
        guard file.isSeekable else {
            return fail(
                "It is compressed with zstd and is not a file. Unpack it first:"
                    + " zstd -dc FILE | subledger ingest -"
            )
        }
        guard let program = ZstdProgram(file) else {
            return fail("It is compressed with zstd. To read it, \(ZstdProgram.advice)")
        }
        packing = .zstd(program)
        return try read(program)
    }

    private func read(_ reader: GzipReader) throws(InputFailure) -> [UInt8] {
        while true {
            switch reader.next() {
            case .bytes(let bytes): return bytes
            case .damaged:
                return fail(
                    "It is compressed with gzip and is damaged, or other data follows the "
                        + "compressed part. The part before the damage was read."
                )
            case .needsInput:
                let more = try file.read()
                guard more.isEmpty else {
                    reader.append(more)
                    continue
                }
                guard !reader.isAtEndOfMember else { return [] }
                return fail(
                    "It is compressed with gzip, but its end is missing. The part before was read; "
                        + "copy the file again and ingest it again."
                )
            }
        }
    }

    private func read(_ program: ZstdProgram) throws(InputFailure) -> [UInt8] {
        let bytes = try program.unpacked.read()
        guard bytes.isEmpty, !Interrupt.isRequested else { return bytes }
        guard let complaint = program.complaint() else { return [] }
        return fail(
            "It is compressed with zstd, and is damaged or cut off: \(complaint). The part before "
                + "the damage was read."
        )
    }
}
