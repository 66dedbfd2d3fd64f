internal import Events

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A file of packed payloads that were moved out of the database: of one lane, with consecutive
/// numbers.
///
///     lp("subledger/evidence-file") ‖ ledger_id (16 bytes) ‖ u32 lane ‖ i64 first number
///     ‖ u32 count ‖ u32 byte count of each body, 0 where none was stored ‖ the bodies
///
/// No digest covers it: each payload must match its digest in `ledger.evidence`. An erasure
/// overwrites a body with zeros.
final class EvidenceFile {
    /// Where it is, and what it holds, as `ledger.evidence_file` records it.
    struct Place: Sendable {
        let ledgerId: [UInt8]
        let lane: Int
        let first: Int64
        let last: Int64
        let path: String

        func contains(_ number: Int64) -> Bool { first <= number && number <= last }

        /// Its bytes before those of the bodies and their counts.
        var head: [UInt8] {
            var writer = ByteWriter()
            writer.prefixed("subledger/evidence-file")
            writer.raw(ledgerId)
            writer.integer(UInt32(truncatingIfNeeded: lane))
            writer.integer(first)
            writer.integer(UInt32(truncatingIfNeeded: last - first + 1))
            return writer.bytes
        }
    }

    let place: Place
    private let descriptor: Int32
    /// Where each body begins, and where the last one ends.
    private var starts: [Int64] = []

    /// Opens it, and reads what its first bytes state.
    ///
    /// - Parameters:
    ///   - place: What it must hold.
    ///   - forErasing: Whether bodies are to be overwritten.
    /// - Throws: `evidenceFile`.
    init(_ place: Place, forErasing: Bool = false) throws(EventLogError) {
        self.place = place
        let mode = forErasing ? O_RDWR : O_RDONLY
        // O_NONBLOCK: a pipe at that place would wait for a writer.
        descriptor = open(place.path, mode | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw EvidenceFile.failure(place.path, "opened") }
        var state = stat()
        guard fstat(descriptor, &state) == 0, state.st_mode & S_IFMT == S_IFREG else {
            throw EvidenceFile.failure(place.path, "used: it is not a regular file")
        }

        // What a row or the file itself states is believed only as far as the file has bytes.
        let head = place.head
        let byteCount = Int64(state.st_size)
        let count = place.last - place.first + 1
        guard count > 0, count <= (byteCount - Int64(head.count)) / 4 else {
            throw EvidenceFile.failure(place.path, EvidenceFile.tooShort)
        }
        let known = try bytes(at: 0, head.count + 4 * Int(count))
        guard ByteScan.areEqual(known[..<head.count], head[...]) else {
            throw EvidenceFile.failure(
                place.path,
                "used: it is not the file of payloads \(place.first) to \(place.last) of lane "
                    + "\(place.lane) of this ledger"
            )
        }
        var reader = ByteReader(known[head.count...])
        var starts = [Int64(known.count)]
        while let bodyByteCount = reader.integer(UInt32.self) {
            starts.append(starts[starts.count - 1] + Int64(bodyByteCount))
            guard starts[starts.count - 1] <= byteCount else {
                throw EvidenceFile.failure(place.path, EvidenceFile.tooShort)
            }
        }
        self.starts = starts
    }

    private static let tooShort = "used: it is shorter than it was written"

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The packed payload with this number; nil if none was stored or it was erased.
    func body(of number: Int64) throws(EventLogError) -> [UInt8]? {
        let body = try bytes(at: range(of: number).lowerBound, range(of: number).count)
        return body.allSatisfy { $0 == 0 } ? nil : body
    }

    /// Overwrites these payloads with zeros, durably.
    func blank(_ numbers: [Int64]) throws(EventLogError) {
        for number in numbers {
            let zeros = [UInt8](repeating: 0, count: range(of: number).count)
            try EvidenceFile.write(zeros, to: descriptor, at: range(of: number).lowerBound, place)
        }
        guard fsync(descriptor) == 0 else { throw EvidenceFile.failure(place.path, "written") }
    }

    private func range(of number: Int64) -> Range<Int64> {
        let index = Int(number - place.first)
        return starts[index]..<starts[index + 1]
    }

    private func bytes(at start: Int64, _ count: Int) throws(EventLogError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let (begin, descriptor) = (done, descriptor)
            let more = bytes.withUnsafeMutableBytes {
                let piece = UnsafeMutableRawBufferPointer(rebasing: $0[begin...])
                let place = off_t(start) + off_t(begin)
                return pread(descriptor, piece.baseAddress, piece.count, place)
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else {
                throw more < 0
                    ? EvidenceFile.failure(place.path, "read")
                    : EvidenceFile.failure(place.path, EvidenceFile.tooShort)
            }
            done += more
        }
        return bytes
    }
}

extension EvidenceFile {
    /// Writes a file durably and reads it back; a file that is there already must be the same.
    ///
    /// - Parameters:
    ///   - bodies: The packed payload of each number; nil where none is stored.
    ///   - place: Where and what it is.
    /// - Throws: `evidenceFile`; then no file is at the place, or the one that was there.
    static func make(_ bodies: [[UInt8]?], at place: Place) throws(EventLogError) {
        var writer = ByteWriter()
        writer.raw(place.head)
        for body in bodies { writer.integer(UInt32(body?.count ?? 0)) }
        for case let body? in bodies { writer.raw(body) }

        let isThere = access(place.path, F_OK) == 0
        if !isThere {
            let part = place.path + ".part"
            // An interrupted move may have left a file there, and another user may have put a link to another file there.
            unlink(part)
            let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw failure(part, "written") }
            defer { close(descriptor) }
            try write(writer.bytes, to: descriptor, at: 0, place)
            guard fsync(descriptor) == 0, rename(part, place.path) == 0 else {
                throw failure(place.path, "written")
            }
        }
        try flushFolder(of: place.path)

        let file = try EvidenceFile(place)
        for (number, body) in zip(place.first..., bodies) {
            guard try file.body(of: number) == body else {
                throw EventLogError(
                    .evidenceFile,
                    isThere
                        ? "\(place.path) is there with other content: an interrupted move or a copy "
                            + "of this ledger wrote it. If no copy uses it, remove it and try again"
                        : "\(place.path) was written, but reading it returns other bytes; nothing "
                            + "was moved to it. Check the disk"
                )
            }
        }
    }

    private static func flushFolder(of path: String) throws(EventLogError) {
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) + "/"
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(folder, "opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(folder, "written") }
    }

    private static func write(
        _ bytes: [UInt8],
        to descriptor: Int32,
        at start: Int64,
        _ place: Place
    ) throws(EventLogError) {
        var done = 0
        while done < bytes.count {
            let begin = done
            let more = bytes.withUnsafeBytes {
                let piece = UnsafeRawBufferPointer(rebasing: $0[begin...])
                let place = off_t(start) + off_t(begin)
                return pwrite(descriptor, piece.baseAddress, piece.count, place)
            }
            guard more >= 0 || errno == EINTR else { throw failure(place.path, "written") }
            done += max(0, more)
        }
    }

    private static func failure(_ path: String, _ what: String) -> EventLogError {
        let number = errno
        let reason = what.contains(":") ? "" : ": \(String(cString: strerror(number)))"
        return EventLogError(
            .evidenceFile,
            "the payload file \(path) cannot be \(what)\(reason). Restore it from a backup, or name "
                + "the folder where the payload files are with SUBLEDGER_EVIDENCE_FOLDER"
        )
    }
}
