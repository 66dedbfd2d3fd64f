internal import Events
internal import Postgres

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A lane that is being reordered from the order of writing to the order of its streams.
///
/// The table is read once, front to back, by all connections that fold it together; each event goes
/// to the part of the temporary file that its stream belongs to, and then part after part is
/// folded. Walking the stream index instead costs a page of the table for nearly every event, and
/// sorting in the server compares texts.
///
/// The file (one for each connection) has no name, so nothing is left behind however the process
/// ends. It takes about as many bytes as the contents of the events.
final class StreamSpool: @unchecked Sendable {
    /// Locates a piece of a part: in 16 bytes, because 20 million events have half a million
    /// pieces.
    private struct Extent {
        private static let placeBits: UInt64 = 48

        private let fileAndPlace: UInt64
        private let count: UInt32

        init(file: Int, place: Int64, byteCount: Int) {
            fileAndPlace = UInt64(file) << Extent.placeBits | UInt64(place)
            count = UInt32(byteCount)
        }

        var file: Int { Int(fileAndPlace >> Extent.placeBits) }
        var place: Int64 { Int64(fileAndPlace & (1 << Extent.placeBits - 1)) }
        var byteCount: Int { Int(count) }
    }

    let lane: Lane
    let head: EventLog.Head
    /// The first key of each part except the first, ascending.
    let cuts: [[UInt8]]
    /// Whether events have everything known of them, or only what folds read.
    let isComplete: Bool

    /// Offsets of one COPY: enough to make its start-up cost negligible, few enough for all
    /// connections to end at about the same time.
    private static let readingOffsets: Int64 = 50_000

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Guarded by `mutex`.
    private var extents: [[Extent]]
    private var files: [Int32] = []
    private var spare: [Pages] = []
    private var nextOffset: Int64 = 1
    private var pendingReadings = 0
    private var failure: (any Error)?

    /// Begins before the first event.
    ///
    /// Throws `temporaryFile` if none can be created.
    init(lane: Lane, head: EventLog.Head, cuts: [[UInt8]], isComplete: Bool) throws(EventLogError) {
        self.lane = lane
        self.head = head
        self.cuts = cuts
        self.isComplete = isComplete
        extents = Array(repeating: [], count: cuts.count + 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        for file in files { close(file) }
        for pages in spare { pages.release() }
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Number of parts.
    var partCount: Int { cuts.count + 1 }

    /// The offsets of the events to read next; nil once all have been handed out.
    ///
    /// A caller that takes some must report how it ended: `hasRead` or `fail`.
    func nextReading() throws -> ClosedRange<Int64>? {
        try locked {
            if let failure { throw failure }
            guard nextOffset <= head.offset else { return nil }
            let last = min(head.offset, nextOffset + StreamSpool.readingOffsets - 1)
            defer { nextOffset = last + 1 }
            pendingReadings += 1
            return nextOffset...last
        }
    }

    /// Records that a range from `nextReading` is in the file.
    func hasRead() {
        locked {
            pendingReadings -= 1
            pthread_cond_broadcast(changed)
        }
    }

    /// Records that the lane cannot be read, and notifies all waiting tasks.
    func fail(_ error: any Error) {
        locked {
            if failure == nil { failure = error }
            pthread_cond_broadcast(changed)
        }
    }

    /// Waits until everything that was begun has been read.
    func waitUntilRead() throws {
        try locked {
            while pendingReadings > 0, failure == nil { pthread_cond_wait(changed, mutex) }
            if let failure { throw failure }
        }
    }

    /// A file for one writer, because two that write to the same file wait for each other.
    ///
    /// Throws `temporaryFile` if none can be created.
    func makeFile() throws(EventLogError) -> SpoolFile {
        let file = try TemporaryFile.open()
        return locked {
            files.append(file)
            return SpoolFile(file: file, number: files.count - 1)
        }
    }

    /// Adds bytes to a part, at the end of a writer's file.
    func append(
        _ bytes: UnsafeRawBufferPointer,
        toPart part: Int,
        in file: inout SpoolFile
    ) throws(EventLogError) {
        let place = file.byteCount
        try TemporaryFile.write(bytes, to: file.file, at: place)
        file.byteCount += Int64(bytes.count)
        let extent = Extent(file: file.number, place: place, byteCount: bytes.count)
        locked { extents[part].append(extent) }
    }

    /// Provides all bytes of a part, once everything has been read.
    func withPart<R>(_ part: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        let (extents, files) = locked { (self.extents[part], self.files) }
        let byteCount = extents.reduce(0) { $0 + $1.byteCount }
        let bytes = try pages(byteCount)
        defer { locked { spare.append(bytes) } }
        var start = 0
        for extent in extents {
            let end = start + extent.byteCount
            let piece = UnsafeMutableRawBufferPointer(rebasing: bytes.memory[start..<end])
            try TemporaryFile.read(into: piece, from: files[extent.file], at: extent.place)
            start = end
        }
        return try body(UnsafeRawBufferPointer(rebasing: bytes.memory[..<byteCount]))
    }

    // Memory released by another part, or new memory; not from the heap, which would retain it.
    private func pages(_ byteCount: Int) throws(EventLogError) -> Pages {
        if let found = locked({ spare.popLast() }) {
            if found.memory.count >= byteCount { return found }
            found.release()
        }
        return try Pages(byteCount: byteCount)
    }

    private func locked<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body()
    }
}

/// The part of a spool's temporary storage that one connection writes.
struct SpoolFile {
    fileprivate let file: Int32
    fileprivate let number: Int
    fileprivate var byteCount: Int64 = 0
}

/// Memory that returns to the system when it is released.
private struct Pages {
    let memory: UnsafeMutableRawBufferPointer

    init(byteCount: Int) throws(EventLogError) {
        let flags = MAP_PRIVATE | MAP_ANON
        let start = mmap(nil, max(1, byteCount), PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let start, start != MAP_FAILED else {
            throw EventLogError(
                .temporaryFile,
                "\(byteCount) bytes of memory for a part of the log are not available"
            )
        }
        memory = UnsafeMutableRawBufferPointer(start: start, count: max(1, byteCount))
    }

    func release() {
        munmap(memory.baseAddress, memory.count)
    }
}

/// A file without a name.
private enum TemporaryFile {
    /// Opens one in `TMPDIR`, or otherwise in /var/tmp, which is on a disk, whereas /tmp is often
    /// in memory.
    static func open() throws(EventLogError) -> Int32 {
        var path = Array("\(folder)/subledger-XXXXXX".utf8CString)
        let file = mkstemp(&path)
        guard file >= 0 else { throw failure("made") }
        unlink(path)
        return file
    }

    static func write(
        _ bytes: UnsafeRawBufferPointer,
        to file: Int32,
        at place: Int64
    ) throws(EventLogError) {
        var done = 0
        while done < bytes.count {
            let piece = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(file, piece.baseAddress, piece.count, off_t(place) + off_t(done))
            guard count > 0 || (count < 0 && errno == EINTR) else {
                throw failure("written")
            }
            done += max(0, count)
        }
    }

    static func read(
        into bytes: UnsafeMutableRawBufferPointer,
        from file: Int32,
        at place: Int64
    ) throws(EventLogError) {
        var done = 0
        while done < bytes.count {
            let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
            let count = pread(file, piece.baseAddress, piece.count, off_t(place) + off_t(done))
            guard count > 0 || (count < 0 && errno == EINTR) else {
                throw failure("read back")
            }
            done += max(0, count)
        }
    }

    private static var folder: String {
        let named = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return named.isEmpty ? "/var/tmp" : named
    }

    private static func failure(_ what: String) -> EventLogError {
        let reason = String(cString: strerror(errno))
        return EventLogError(
            .temporaryFile,
            "a temporary file in \(folder) could not be \(what): \(reason); it needs about as much "
                + "space as the table ledger.event. Set TMPDIR to a folder with more space"
        )
    }
}
