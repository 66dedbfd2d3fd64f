import AppStore
import Foundation
package import Subledger

/// Walks files, folders and stdin, and returns their payloads one after the other.
///
/// Holds one payload and the names of its parent folders in memory, whatever the number of files.
package struct PayloadWalk {
    /// What was skipped.
    package private(set) var skipped = SkippedInput()

    private var bytesDone: Int64 = 0
    private var pending: [Entry]
    private var open: OpenFile?
    private let column: String?
    private let notice: @Sendable (String) -> Void

    /// The deepest nesting of folders.
    static let depthMax = 64

    /// Bytes without a line break or a payload after which an input counts as endless, and is read
    /// no further: many times the longest payload.
    static let unendedByteCountMax = 1 << 28

    private enum Entry {
        case named(RawPath)
        case found(RawPath, depth: Int)
        case folder(FolderReader, depth: Int)
    }

    fileprivate struct OpenFile {
        let path: String
        let content: ContentReader
        var splitter: PayloadSplitter
        var ready: [PayloadSplitter.Piece] = []
        var delivered = 0
        var isAtEnd = false
        var hasContent = false
        /// Bytes since the last line break or payload.
        var unendedByteCount = 0
    }

    /// What is being read; nil between two inputs.
    var currentPath: String? { open?.path }

    /// Bytes read, as stored in files.
    var bytesRead: Int64 { bytesDone + (open?.content.bytesRead ?? 0) }

    /// A walk over these paths, with `-` for stdin, and over the named column of tables, or all
    /// columns.
    ///
    /// `notice` receives a sentence for each pipe that begins to be read: it may never end.
    package init(
        _ paths: [String],
        column: String? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        let raw = paths.map(RawPath.init(argument:))
        for path in raw where path.text != "-" {
            guard let kind = path.kind else {
                throw Failure(Exit.inputMissing, "no such file or folder: \(path.text)")
            }
            guard [.file, .folder, .pipe].contains(kind) else {
                throw Failure(
                    Exit.inputMissing,
                    "\(path.text) is \(kind.word), which may never end: name files, folders or "
                        + "pipes, or write - to read stdin"
                )
            }
        }
        self.column = column
        self.notice = notice
        pending = raw.reversed().map(Entry.named)
    }

    /// The most payloads, and the most bytes except those of the last one, returned at once.
    static let batchCountMax = 64
    static let batchByteCountMax = 1 << 20

    /// The next payloads, as many as are available without waiting for a pipe; nil after the last.
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

    // The next payload; nil after the last, and, unless it waits, if the next one would come from a
    // named path that may be a pipe.
    private mutating func next(isWaiting: Bool = true) throws -> LocatedPayload? {
        while true {
            if let open, open.ready.isEmpty, !isWaiting { return nil }
            if let payload = nextOfOpenFile() { return payload }
            if case .named? = pending.last, !isWaiting { return nil }
            guard let entry = pending.popLast() else { return nil }
            switch entry {
            case .named(let path) where path.text == "-":
                begin(path, .standardInput)
            case .named(let path):
                if let refusal = try enter(path, depth: 0, isNamed: true) { return refusal }
            case .found(let path, let depth):
                if let refusal = try enter(path, depth: depth, isNamed: false) { return refusal }
            case .folder(let reader, let depth):
                guard let name = reader.next() else { continue }
                pending.append(.folder(reader, depth: depth))
                pending.append(.found(reader.path.appending(name), depth: depth))
            }
        }
    }

    private mutating func begin(_ path: RawPath, _ file: InputFile) {
        skipped.filesRead += 1
        open = OpenFile(
            path: path.text,
            content: ContentReader(file),
            splitter: PayloadSplitter(column: column)
        )
    }

    private mutating func enter(
        _ path: RawPath,
        depth: Int,
        isNamed: Bool
    ) throws -> LocatedPayload? {
        guard let kind = path.kind else {
            return unreadable(path, "it no longer exists, or is a symbolic link without a target")
        }
        if kind == .folder { return enterFolder(path, depth: depth, isNamed: isNamed) }
        if kind != .file, !isNamed {
            // Reading a pipe may never end, so a pipe is read only if it is named.
            skipped.add(path.text, kind)
            return nil
        }
        let file: InputFile
        do throws(InputFailure) {
            file = try InputFile(path)
        } catch {
            return unreadable(path, error.reason)
        }
        if !isNamed, isPlainlySomethingElse(path, file) {
            skipped.files += 1
            return nil
        }
        if kind == .pipe { notice("reading the pipe \(path.text) until its writers close it") }
        begin(path, file)
        return nil
    }

    private mutating func enterFolder(
        _ path: RawPath,
        depth: Int,
        isNamed: Bool
    ) -> LocatedPayload? {
        // Links to folders are not followed: two of them in a folder would give 2^n paths.
        guard isNamed || !path.isLink else {
            skipped.files += 1
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

    private func unreadable(_ path: RawPath, _ reason: String) -> LocatedPayload {
        LocatedPayload(
            path: path.text,
            payload: .failure(Rejection(.unreadable, "It cannot be read: \(reason)."))
        )
    }

    private func isPlainlySomethingElse(_ path: RawPath, _ file: InputFile) -> Bool {
        let isOther = [".md", ".storekit"].contains { path.text.hasSuffix($0) }
        if path.nameStarts(with: UInt8(ascii: ".")) || isOther { return true }
        // A certificate is small and starts as an ASN.1 sequence, or as PEM.
        let head: [UInt8]
        do throws(InputFailure) {
            head = try file.read()
        } catch {
            return false
        }
        file.rewind()
        guard head.count < RootCertificate.fileByteCountMax,
            head.first == 0x30 || head.starts(with: "-----BEGIN CERTIFICATE".utf8)
        else { return false }
        do throws(Rejection) {
            return try !RootCertificate.read(head).isEmpty
        } catch {
            return false
        }
    }

    private mutating func nextOfOpenFile() -> LocatedPayload? {
        guard var file = open else { return nil }
        // With two owners, every payload that is taken would copy the list of those that are ready.
        open = nil
        defer {
            open = file.isDone ? nil : file
            if file.isDone {
                skipped.lines += file.splitter.skippedCount
                bytesDone += file.content.bytesRead
            }
        }

        file.fill()
        guard let piece = file.ready.popLast() else {
            // An upload that was truncated at its first byte must not pass for an empty input.
            guard !file.hasContent, file.path != "-" else { return nil }
            return LocatedPayload(
                path: file.path,
                payload: .failure(Rejection(.payloadEmpty, "The file is empty."))
            )
        }

        file.delivered += 1
        // Whether the first payload is the only one shows only after a look at the rest; the next
        // payload of a pipe may be an hour away.
        if file.delivered == 1, file.content.isSeekable { file.fill() }
        let isOnly = file.delivered == 1 && file.isDone
        return LocatedPayload(
            path: isOnly ? file.path : "\(file.path)#\(file.delivered)",
            payload: piece
        )
    }
}

extension PayloadWalk.OpenFile {
    fileprivate var isDone: Bool { isAtEnd && ready.isEmpty }

    /// Reads until a payload is ready or the file ends.
    fileprivate mutating func fill() {
        while ready.isEmpty, !isAtEnd {
            let chunk = content.read()
            hasContent = hasContent || !chunk.isEmpty
            count(chunk)
            if unendedByteCount > PayloadWalk.unendedByteCountMax {
                isAtEnd = true
                _ = splitter.finish()
                ready = [.failure(PayloadWalk.endless)]
            } else if chunk.isEmpty {
                isAtEnd = true
                ready = splitter.finish().reversed()
                if let failure = content.failure {
                    hasContent = true
                    ready.insert(.failure(failure), at: 0)
                }
            } else {
                ready = splitter.append(chunk[...]).reversed()
                if !ready.isEmpty { unendedByteCount = 0 }
            }
        }
    }

    private mutating func count(_ chunk: [UInt8]) {
        let hasLineBreak = chunk.withUnsafeBytes { bytes in
            bytes.baseAddress.map { memchr($0, Int32(UInt8(ascii: "\n")), bytes.count) != nil }
        }
        unendedByteCount = hasLineBreak ?? true ? 0 : unendedByteCount + chunk.count
    }
}

extension PayloadWalk {
    fileprivate static var endless: Rejection {
        Rejection(
            .payloadTooLarge,
            "It has more than \(unendedByteCountMax) bytes without a line break or a payload; the "
                + "rest of it was not read."
        )
    }
}

/// What a walk did not read, or read without finding a payload.
package struct SkippedInput: Sendable {
    /// Files of a folder that were skipped because they are clearly something else.
    ///
    /// Certificates, Xcode's `.storekit` files, Markdown, hidden files, links to folders, pipes,
    /// sockets and devices; only inside folders: a named file is always read.
    package fileprivate(set) var files = 0
    /// Lines of logs and rows of tables without a payload.
    package fileprivate(set) var lines = 0
    fileprivate var filesRead = 0
    private var special: [String] = []
    private var specialCount = 0

    /// The most pipes, sockets and devices that are listed individually; all are counted.
    private static let namesMax = 20

    fileprivate mutating func add(_ path: String, _ kind: FileKind) {
        files += 1
        specialCount += 1
        guard special.count < SkippedInput.namesMax else { return }
        special.append("skipped \(path): it is \(kind.word); to read it, name it as a path")
    }

    /// What the operator should know about it, one sentence each.
    package var sentences: [String] {
        var sentences = special
        if specialCount > special.count {
            sentences.append("… and \(specialCount - special.count) more pipes, sockets or devices")
        }
        if lines > 0 {
            let noun = lines == 1 ? "line or row" : "lines or rows"
            sentences.append("skipped \(lines) \(noun) without a payload")
        }
        if filesRead == 0 {
            sentences.append("no file was read: the folder is empty, or all its files were skipped")
        }
        return sentences
    }
}
