internal import Foundation

/// A folder of exported tables, locked for one export.
///
/// A file appears whole or not at all: it is written below `_temporary`, flushed to disk, and
/// renamed. `_progress.ndjson` records each file before it is renamed, so a killed export can be
/// resumed, and every file that it left behind is accounted for.
final class ExportFolder: Sendable {
    /// Its path.
    let path: String
    private let lock: Int32
    private let progress: Int32

    private static let temporaryName = "_temporary"
    private static let partName = "file.part"
    private static let progressName = "_progress.ndjson"
    private static let next =
        "earlier exports are intact; correct the permissions or free disk space, then run again to "
        + "continue"

    /// A line of the progress file.
    struct Finished: Codable {
        let table: String
        let definition: String
        let file: ExportManifest.File
    }

    /// Creates the folder if it is missing, and locks it against other exports.
    ///
    /// - Throws: `folderInUse`, `foreignFolder`, `fileSystem`.
    init(_ path: String) throws(ExportError) {
        self.path = path
        try ExportFolder.make(path)
        lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw ExportFolder.failure(path, "opened") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            close(lock)
            guard number == EWOULDBLOCK else { throw ExportFolder.failure(path, "locked", number) }
            throw ExportError(
                .folderInUse,
                "another process is exporting into \(path); run again when it has ended"
            )
        }
        do throws(ExportError) {
            try ExportFolder.checkIsOurs(path)
            try ExportFolder.make("\(path)/\(ExportFolder.temporaryName)")
            let name = "\(path)/\(ExportFolder.progressName)"
            progress = open(name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
            guard progress >= 0 else { throw ExportFolder.failure(name, "opened") }
        } catch {
            unlock(lock)
            throw error
        }
    }

    deinit {
        close(progress)
        unlock(lock)
    }

    private static func checkIsOurs(_ path: String) throws(ExportError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw ExportFolder.failure(path, "read")
        }
        let ours = [ExportManifest.fileName, progressName]
        guard names.isEmpty || names.contains(where: ours.contains) else {
            throw ExportError(
                .foreignFolder,
                "\(path) contains other files (\(names.sorted()[0])) and no export; name a new or "
                    + "empty folder"
            )
        }
    }

    /// A document of an earlier export; nil if there is none.
    ///
    /// - Throws: `damagedManifest`, `fileSystem`.
    func document<Document: Decodable>(
        _ type: Document.Type,
        named name: String
    ) throws(ExportError) -> Document? {
        guard size(of: name) != nil else { return nil }
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            throw ExportError(
                .damagedManifest,
                "\(path)/\(name) was not written by an export of this program; name a new or empty "
                    + "folder"
            )
        }
    }

    /// The files that an unfinished export wrote; a truncated last line is removed.
    func finished() throws(ExportError) -> [Finished] {
        let name = "\(path)/\(ExportFolder.progressName)"
        do {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: name))
            let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast()
            let finished = try lines.map { try JSONDecoder().decode(Finished.self, from: $0) }
            // The next line must not continue a truncated one.
            guard ftruncate(progress, off_t(lines.reduce(0) { $0 + $1.count + 1 })) == 0 else {
                throw ExportFolder.failure(name, "written")
            }
            return finished
        } catch let error as ExportError {
            throw error
        } catch {
            throw ExportError(
                .damagedManifest,
                "\(name) is not what an export of this program wrote; name a new or an empty folder"
            )
        }
    }

    /// Refuses a path that this program never writes, because files that a document names may be
    /// removed.
    ///
    /// - Throws: `damagedManifest`.
    func check(_ name: String, of table: String) throws(ExportError) {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0] == table,
            !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." })
        else {
            throw ExportError(
                .damagedManifest,
                "a document of the export in \(path) names the file \(name), which does not belong "
                    + "to the table \(table); name a new or empty folder"
            )
        }
    }

    /// The size of a file; nil if it does not exist.
    func size(of name: String) -> Int64? { ExportFolder.size(at: "\(path)/\(name)") }

    /// The size of the file at a path; nil if it does not exist.
    static func size(at path: String) -> Int64? {
        let file = attributes(of: path)
        guard file[.type] as? FileAttributeType == .typeRegular else { return nil }
        return (file[.size] as? NSNumber)?.int64Value
    }

    // Of the file itself, without following links; empty if it does not exist.
    private static func attributes(of path: String) -> [FileAttributeKey: Any] {
        do {
            return try FileManager.default.attributesOfItem(atPath: path)
        } catch {
            return [:]
        }
    }

    // Whether the path is a folder, or a link to one.
    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && isFolder.boolValue
    }

    /// A new file, which does not exist yet.
    func newFile() throws(ExportError) -> ExportFile {
        try ExportFile("\(path)/\(ExportFolder.temporaryName)/\(ExportFolder.partName)")
    }

    /// Moves a complete file into place, replacing any earlier one.
    func place(_ file: ExportFile, as finished: Finished) throws(ExportError) {
        let line: [UInt8]
        do {
            line = Array(try JSONEncoder().encode(finished)) + [0x0a]
        } catch {
            preconditionFailure("a line of progress cannot be written as JSON: \(error)")
        }
        if let number = systemWrite(line, to: progress) ?? flush(progress) {
            throw ExportFolder.failure("\(path)/\(ExportFolder.progressName)", "written", number)
        }
        try rename(file.path, to: finished.file.path)
    }

    /// Writes a document atomically: on failure, the earlier one remains.
    func write(_ bytes: [UInt8], as name: String) throws(ExportError) {
        let file = try newFile()
        try file.writeAsIs(bytes)
        try file.finish()
        try rename(file.path, to: name)
    }

    // A link below the folder could lead out of it.
    private func refuseLinks(to name: String) throws(ExportError) {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/\(part)"
            let type = ExportFolder.attributes(of: folder)[.type] as? FileAttributeType
            guard type == .typeSymbolicLink else { continue }
            throw ExportError(
                .foreignFolder,
                "\(folder) is a symbolic link, which an export does not follow; remove it, or name "
                    + "a new or empty folder"
            )
        }
    }

    private func rename(_ temporary: String, to name: String) throws(ExportError) {
        try refuseLinks(to: name)
        let place = "\(path)/\(name)"
        let folder = URL(fileURLWithPath: place).deletingLastPathComponent().path
        try ExportFolder.make(folder)
        guard Foundation.rename(temporary, place) == 0 else {
            throw ExportFolder.failure(place, "written")
        }
        try ExportFolder.flushFolder(folder)
    }

    /// Removes a file, and the folders of its table that become empty.
    func remove(_ name: String) throws(ExportError) {
        try refuseLinks(to: name)
        guard unlink("\(path)/\(name)") == 0 || errno == ENOENT else {
            throw ExportFolder.failure("\(path)/\(name)", "removed")
        }
        var folder = name
        while let slash = folder.lastIndex(of: "/") {
            folder = String(folder[..<slash])
            // A folder that is not empty stays.
            guard rmdir("\(path)/\(folder)") == 0 else { return }
        }
    }

    /// Ends the export, and removes what was recorded to resume it.
    func end() throws(ExportError) {
        let part = "\(ExportFolder.temporaryName)/\(ExportFolder.partName)"
        for name in [ExportFolder.progressName, part, part + DuckDB.suffix]
        where unlink("\(path)/\(name)") != 0 && errno != ENOENT {
            throw ExportFolder.failure("\(path)/\(name)", "removed")
        }
        rmdir("\(path)/\(ExportFolder.temporaryName)")
        try ExportFolder.flushFolder(path)
    }

    private func flush(_ descriptor: Int32) -> Int32? { fsync(descriptor) == 0 ? nil : errno }

    private static func flushFolder(_ path: String) throws(ExportError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "opened") }
        defer { close(descriptor) }
        // Some file systems do not support fsync on a folder.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path, "flushed") }
    }

    private static func make(_ path: String) throws(ExportError) {
        if isFolder(path) { return }
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if parent != path, !FileManager.default.fileExists(atPath: parent) { try make(parent) }
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw failure(path, "made") }
        guard isFolder(path) else { throw failure(path, "made", ENOTDIR) }
    }

    static func failure(
        _ path: String,
        _ verb: String,
        _ number: Int32 = errno
    ) -> ExportError {
        let message = String(cString: strerror(number))
        return ExportError(.fileSystem, "\(path) cannot be \(verb): \(message); \(next)")
    }
}

/// Writes all of the bytes; returns the error number if that fails.
func systemWrite(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
    bytes.withUnsafeBytes { systemWrite($0, to: descriptor) }
}

/// Writes all of the bytes; returns the error number if that fails.
func systemWrite(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32? {
    var rest = bytes[...]
    while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let written = write(descriptor, piece.baseAddress, piece.count)
        if written >= 0 {
            rest = rest.dropFirst(written)
        } else if errno != EINTR {
            return errno
        }
    }
    return nil
}

// A child that another task starts at this moment has the descriptor, too, until it runs its
// program: without LOCK_UN it would hold the lock that long.
private func unlock(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    close(descriptor)
}
