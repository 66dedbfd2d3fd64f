import AppStore
import Foundation
package import Subledger

/// Walks files, folders and stdin, and gives their payloads one after the other.
///
/// Holds one payload and the names of the folders it is in, whatever the number of files.
package struct PayloadWalk {
    /// Files that were passed over because they plainly are something else.
    ///
    /// Certificates, Xcode's `.storekit` files, Markdown and hidden files; only inside folders: a
    /// file that is named is always read.
    package private(set) var skipped = 0

    private var pending: [Entry]
    private var open: OpenFile?

    /// Entries of a folder up to which they are read in the order of their names.
    static let sortedEntriesMax = 10_000

    /// Deepest nesting of folders.
    static let depthMax = 64

    fileprivate static let chunkByteCount = 1 << 18

    private enum Entry {
        case named(String)
        case found(String, depth: Int)
        case folder(FolderReader, depth: Int)
    }

    fileprivate struct OpenFile {
        let path: String
        let handle: FileHandle
        var splitter = PayloadSplitter()
        var ready: [PayloadSplitter.Piece] = []
        var delivered = 0
        var isAtEnd = false
        var hasContent = false
    }

    /// A walk over these paths; `-` is stdin.
    package init(_ paths: [String]) throws {
        for path in paths where path != "-" {
            guard FileManager.default.fileExists(atPath: path) else {
                throw Failure(Exit.inputMissing, "there is no file or folder \(path)")
            }
        }
        pending = paths.reversed().map(Entry.named)
    }

    /// Most payloads, and most bytes but for the last one's, that are given at once.
    static let batchCountMax = 64
    static let batchByteCountMax = 1 << 20

    /// The next payloads, as many as are there without waiting for a pipe; nil after the last.
    package mutating func nextBatch() throws -> [LocatedPayload]? {
        guard let first = try next() else { return nil }
        var (batch, byteCount) = ([first], first.byteCount)
        while batch.count < PayloadWalk.batchCountMax, byteCount < PayloadWalk.batchByteCountMax,
            let next = try next(isWaiting: false)
        {
            batch.append(next)
            byteCount += next.byteCount
        }
        return batch
    }

    // The next payload; nil after the last, and where it would come from what is named and may be
    // a pipe, unless it is waited for.
    private mutating func next(isWaiting: Bool = true) throws -> LocatedPayload? {
        while true {
            if let open, open.ready.isEmpty, !isWaiting { return nil }
            if let payload = try nextOfOpenFile() { return payload }
            if case .named? = pending.last, !isWaiting { return nil }
            guard let entry = pending.popLast() else { return nil }
            switch entry {
            case .named("-"):
                open = OpenFile(path: "-", handle: FileHandle.standardInput)
            case .named(let path):
                if let refusal = try enter(path, depth: 0, isNamed: true) { return refusal }
            case .found(let path, let depth):
                if let refusal = try enter(path, depth: depth, isNamed: false) { return refusal }
            case .folder(let reader, let depth):
                guard let name = reader.next() else { continue }
                pending.append(.folder(reader, depth: depth))
                pending.append(.found(reader.path + "/" + name, depth: depth))
            }
        }
    }

    private mutating func enter(
        _ path: String,
        depth: Int,
        isNamed: Bool
    ) throws -> LocatedPayload? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return unreadable(path, "it vanished, or is a link that leads nowhere")
        }
        if isFolder.boolValue {
            guard isNamed || !isLink(path) else {
                skipped += 1
                return nil
            }
            guard depth < PayloadWalk.depthMax else {
                return unreadable(path, "folders are nested deeper than \(PayloadWalk.depthMax)")
            }
            guard let reader = FolderReader(path) else {
                return unreadable(path, "the folder cannot be read")
            }
            pending.append(.folder(reader, depth: depth + 1))
            return nil
        }
        guard let handle = FileHandle(forReadingAtPath: path) else {
            return unreadable(path, "the file cannot be read")
        }
        if !isNamed, try isPlainlySomethingElse(path, handle) {
            skipped += 1
            try handle.close()
            return nil
        }
        open = OpenFile(path: path, handle: handle)
        return nil
    }

    // Links to folders are not followed: two of them in one folder are 2^n ways into it.
    private func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private func unreadable(_ path: String, _ reason: String) -> LocatedPayload {
        LocatedPayload(
            path: path,
            payload: .failure(Rejection(.unreadable, "It cannot be read: \(reason)."))
        )
    }

    private func isPlainlySomethingElse(_ path: String, _ handle: FileHandle) throws -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let isOther = [".md", ".storekit"].contains { name.hasSuffix($0) }
        if name.hasPrefix(".") || isOther { return true }
        // A certificate is small and starts as an ASN.1 sequence, or as PEM.
        let head = try handle.read(upToCount: RootCertificate.fileByteCountMax) ?? Data()
        try handle.seek(toOffset: 0)
        guard head.count < RootCertificate.fileByteCountMax,
            head.first == 0x30 || head.starts(with: Data("-----BEGIN CERTIFICATE".utf8))
        else { return false }
        do throws(Rejection) {
            return try !RootCertificate.read([UInt8](head)).isEmpty
        } catch {
            return false
        }
    }

    private mutating func nextOfOpenFile() throws -> LocatedPayload? {
        guard var file = open else { return nil }
        // Two owners would make every payload that is taken copy the list of those that are ready.
        open = nil
        defer { open = file.isDone ? nil : file }
        try file.fill()
        guard let piece = file.ready.popLast() else {
            // An upload that was cut off at its first byte must not pass for nothing to do.
            guard !file.hasContent, file.path != "-" else { return nil }
            return LocatedPayload(
                path: file.path,
                payload: .failure(Rejection(.payloadEmpty, "The file is empty."))
            )
        }
        file.delivered += 1
        // Whether the first payload is the only one shows when the rest has been looked at; stdin
        // may be a pipe whose next payload is an hour away.
        if file.delivered == 1, file.path != "-" { try file.fill() }
        let isOnly = file.delivered == 1 && file.isDone
        return LocatedPayload(
            path: isOnly ? file.path : "\(file.path)#\(file.delivered)",
            payload: piece
        )
    }
}

extension PayloadWalk.OpenFile {
    fileprivate var isDone: Bool { isAtEnd && ready.isEmpty }

    // What is there now, for a name may be that of a pipe.
    private func readFile() throws -> [UInt8] {
        var isRead = true
        let chunk = [UInt8](unsafeUninitializedCapacity: PayloadWalk.chunkByteCount) {
            let count = Foundation.read(handle.fileDescriptor, $0.baseAddress, $0.count)
            (isRead, $1) = (count >= 0, max(0, count))
        }
        // Says what is wrong, or reads where a signal came between.
        return isRead
            ? chunk : [UInt8](try handle.read(upToCount: PayloadWalk.chunkByteCount) ?? Data())
    }

    /// Reads until a payload is ready or the file ends.
    fileprivate mutating func fill() throws {
        while ready.isEmpty, !isAtEnd {
            let chunk = path == "-" ? StandardInput.read() : try readFile()
            hasContent = hasContent || !chunk.isEmpty
            if chunk.isEmpty {
                isAtEnd = true
                ready = splitter.finish().reversed()
                if path != "-" { try handle.close() }
            } else {
                ready = splitter.append(chunk[...]).reversed()
            }
        }
    }
}

/// Reads stdin as it comes: what a pipe has now, not what would fill a buffer.
enum StandardInput {
    /// How often a wait looks whether somebody asked to stop.
    private static let pollMilliseconds: Int32 = 200

    /// The next bytes; empty at the end, and once the operator asked to stop or the task is
    /// cancelled.
    static func read() -> [UInt8] {
        var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while !Interrupt.isRequested, !Task.isCancelled {
            guard poll(&descriptor, 1, pollMilliseconds) > 0 else { continue }
            return [UInt8](unsafeUninitializedCapacity: PayloadWalk.chunkByteCount) {
                $1 = max(0, Foundation.read(STDIN_FILENO, $0.baseAddress, $0.count))
            }
        }
        return []
    }
}

/// Reads the names in a folder: sorted where they are few, as they come where they are many.
final class FolderReader {
    let path: String
    private var names: [String] = []
    private let stream: OpaquePointer

    /// Nil where the folder cannot be read.
    init?(_ path: String) {
        guard let stream = opendir(path) else { return nil }
        self.path = path.hasSuffix("/") ? String(path.dropLast()) : path
        self.stream = stream
        while names.count <= PayloadWalk.sortedEntriesMax, let name = read() { names.append(name) }
        if names.count <= PayloadWalk.sortedEntriesMax { names.sort(by: >) }
    }

    deinit { closedir(stream) }

    func next() -> String? { names.popLast() ?? read() }

    private func read() -> String? {
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { return name }
        }
        return nil
    }
}
