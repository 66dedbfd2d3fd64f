import Foundation

/// A path as the bytes that the system knows it by, which need not be UTF-8.
struct RawPath: Sendable {
    /// The bytes, without a zero.
    let bytes: [UInt8]

    /// What is printed: bytes that are not UTF-8 come as `�`.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// A path of those bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// An argument of the command line, whose own bytes are looked up where its text was repaired.
    init(argument: String) {
        let own = CommandLine.unsafeArgv
        var bytes = Array(argument.utf8)
        if argument.contains("\u{fffd}") {
            for index in 0..<Int(CommandLine.argc) {
                guard let raw = own[index], String(cString: raw) == argument else { continue }
                bytes = RawPath.bytes(of: raw)
            }
        }
        self.bytes = bytes
    }

    /// The entry of that name in this folder.
    func appending(_ name: [UInt8]) -> RawPath {
        RawPath((bytes.last == UInt8(ascii: "/") ? bytes : bytes + [UInt8(ascii: "/")]) + name)
    }

    /// Whether the last component starts so.
    func nameStarts(with byte: UInt8) -> Bool {
        (bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes[($0 + 1)...] } ?? bytes[...]).first
            == byte
    }

    /// Calls the system with the path.
    func withSystemPath<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        let text = bytes.map { CChar(bitPattern: $0) } + [0]
        return text.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("a text has an end") }
            return body(start)
        }
    }

    /// The bytes of a text of C.
    static func bytes(of text: UnsafePointer<CChar>) -> [UInt8] {
        (0..<strlen(text)).map { UInt8(bitPattern: text[$0]) }
    }

    /// What stands there, links followed; nil for nothing.
    var kind: FileKind? {
        var status = stat()
        guard withSystemPath({ stat($0, &status) }) == 0 else { return nil }
        return FileKind(mode: status.st_mode)
    }

    /// Whether it is a link itself.
    var isLink: Bool {
        var status = stat()
        return withSystemPath { lstat($0, &status) } == 0
            && status.st_mode & S_IFMT == S_IFLNK
    }
}

/// What may stand at a path.
enum FileKind: Sendable {
    case file
    case folder
    case pipe
    case socket
    case device

    /// What that mode of `stat` says.
    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFDIR: self = .folder
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
        case .pipe: "a named pipe"
        case .socket: "a socket"
        case .device: "a device"
        }
    }
}
