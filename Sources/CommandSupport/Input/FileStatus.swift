import Foundation

/// The system's information about a file.
///
/// Commands use this instead of calling `stat`: if the Swift runtime is linked statically, a module
/// that imports as much as theirs does not see the members of its result.
package struct FileStatus: Sendable {
    /// The type of the file.
    package let kind: FileKind
    /// Its size in bytes; only meaningful for a regular file.
    package let byteCount: Int64
    /// The user id of its owner.
    package let owner: UInt32
    /// Its permissions: the nine bits of `chmod`.
    package let permissions: UInt32

    /// The status of the file at a path, following links; nil with the reason in `errno`.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of an open file; nil with the reason in `errno`.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of the file at a path of any bytes; nil with the reason in `errno`.
    init?(_ path: RawPath, followsLinks: Bool) {
        var status = stat()
        let result = path.withSystemPath {
            followsLinks ? stat($0, &status) : lstat($0, &status)
        }
        guard result == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        kind = FileKind(mode: status.st_mode)
        byteCount = Int64(status.st_size)
        owner = status.st_uid
        permissions = UInt32(status.st_mode & 0o777)
    }
}

/// The types of files.
package enum FileKind: Sendable {
    /// A regular file.
    case file
    /// A folder.
    case folder
    /// A link itself, if links are not followed.
    case link
    /// A named pipe.
    case pipe
    /// A socket.
    case socket
    /// A device.
    case device

    fileprivate init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFCHR, S_IFBLK: self = .device
        default: self = .file
        }
    }

    /// The word that is printed.
    var word: String {
        switch self {
        case .file: "a file"
        case .folder: "a folder"
        case .link: "a link"
        case .pipe: "a named pipe"
        case .socket: "a socket"
        case .device: "a device"
        }
    }
}
