import Foundation

/// What the system says of a file.
///
/// Commands ask here instead of calling `stat`: where the Swift runtime is linked statically, a module
/// that imports as much as theirs does not see the members of its result.
public struct FileStatus: Sendable {
    /// What stands there.
    public let kind: FileKind
    /// How many bytes it has; of a file only.
    public let byteCount: Int64
    /// The number of the user who owns it.
    public let owner: UInt32
    /// Who may do what with it: the nine bits of `chmod`.
    public let permissions: UInt32

    /// The status of what stands at a path, links followed; nil with the reason in `errno`.
    public init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of an open file; nil with the reason in `errno`.
    public init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The status of what stands at a path of any bytes; nil with the reason in `errno`.
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

/// What may stand at a path.
public enum FileKind: Sendable {
    /// A regular file.
    case file
    /// A folder.
    case folder
    /// A link itself, where links are not followed.
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
