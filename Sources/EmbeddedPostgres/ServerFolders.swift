import Foundation

/// Where an embedded server keeps its data, socket, log and lock.
///
/// Everything is in `postgres/` under the home, unless the server's user cannot get there or the
/// path contains characters that pg_ctl would pass to a shell. Then it is in a folder under
/// /var/tmp, named by a hash of the home, and a text file in the home names that folder.
struct ServerFolders: Sendable {
    /// The kernel's limit for the path of a socket is 104 bytes on macOS and 108 on Linux,
    /// including the terminating zero.
    static let socketPathBytesMax = 103

    static let port = 5432

    let home: String
    /// The user that the server runs as.
    let user: ServerUser
    /// The folder that belongs to the server's user.
    let root: String
    let sockets: String
    let isElsewhere: Bool

    var data: String { "\(root)/data" }
    var unfinishedData: String { "\(root)/data.unfinished" }
    var log: String { "\(root)/server.log" }
    var lock: String { "\(home)/server.lock" }
    var settings: String { "\(data)/subledger.conf" }
    var processFile: String { "\(data)/postmaster.pid" }

    /// Whether the server is ready on a socket that no longer exists.
    ///
    /// If a home was removed under a running server, that server removes its socket when it
    /// notices, up to a minute later; by then it is the socket of the next server in this home.
    var isSocketLost: Bool {
        guard let text = FileManager.default.contents(atPath: processFile) else { return false }
        let lines = String(decoding: text, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        // The eighth line is the server's state.
        let isReady = lines.count > 7 && lines[7].hasPrefix("ready")
        return isReady && access("\(sockets)/.s.PGSQL.\(Self.port)", F_OK) != 0
    }

    /// Decides where everything is stored; the home must exist.
    init(home: String, user: ServerUser) {
        let hash = Self.hash(home)
        let isPlain = !home.unicodeScalars.contains { scalar in
            scalar.value < 0x20 || "\"$`\\',".unicodeScalars.contains(scalar)
        }
        isElsewhere = !isPlain || !user.canReach(home)
        self.home = home
        self.user = user
        root = isElsewhere ? "/var/tmp/subledger-\(hash)" : "\(home)/postgres"
        let near = "\(root)/socket"
        let fits = "\(near)/.s.PGSQL.\(Self.port)".utf8.count <= Self.socketPathBytesMax
        sockets = fits ? near : "/tmp/subledger-\(hash)"
    }

    /// Creates the home, private if only the owner needs it, and returns its full path without
    /// links.
    static func makeHome(_ path: String, user: ServerUser) throws(EmbeddedServerError) -> String {
        let url = URL(fileURLWithPath: path)
        do {
            try FileManager.default.createDirectory(
                at: url,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: user.isAnother ? 0o755 : 0o700]
            )
        } catch {
            throw EmbeddedServerError(
                .fileSystem,
                "The home folder \(path) cannot be created: \(error.localizedDescription)."
            )
        }
        return url.resolvingSymlinksInPath().path
    }

    /// The major version of the data; nil if there is none.
    var dataVersion: String? {
        FileManager.default.contents(atPath: "\(data)/PG_VERSION").map {
            String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    /// Creates the server's own folders, or checks that they belong to its user.
    func make() throws(EmbeddedServerError) {
        try Self.makePrivate(root, for: user)
        try Self.makePrivate(sockets, for: user)
        guard isElsewhere else { return }
        try Self.write(
            """
            The data of this ledger is in \(data)
            The server runs as the user \(user.name), who has no access to this folder.

            """,
            to: "\(home)/data-location.txt",
            mode: 0o644,
            owner: nil
        )
    }

    /// Creates a folder that only the user may enter.
    private static func makePrivate(
        _ path: String,
        for user: ServerUser
    ) throws(EmbeddedServerError) {
        if mkdir(path, 0o700) == 0 {
            guard !user.isAnother || chown(path, user.uid, user.gid) == 0 else {
                throw failed("cannot be given to \(user.name)", path)
            }
            return
        }
        guard errno == EEXIST else { throw failed("cannot be created", path) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw failed("cannot be inspected", path) }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        guard isFolder, status.st_uid == user.uid, status.st_mode & 0o077 == 0 else {
            throw EmbeddedServerError(
                .notOurs,
                "\(path) is not a private folder of \(user.name) (mode 0700), so others could read "
                    + "or replace the data. Remove it, or choose another home."
            )
        }
    }

    /// Replaces a small file, never through a link, and changes its owner.
    static func write(
        _ text: String,
        to path: String,
        mode: mode_t,
        owner: ServerUser?
    ) throws(EmbeddedServerError) {
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        let descriptor = open(path, flags, mode)
        guard descriptor >= 0 else { throw failed("cannot be written", path) }
        defer { close(descriptor) }
        if let owner, owner.isAnother, fchown(descriptor, owner.uid, owner.gid) != 0 {
            throw failed("cannot be given to \(owner.name)", path)
        }
        let bytes = Array(text.utf8)
        guard Foundation.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw failed("cannot be written", path)
        }
    }

    static func failed(_ what: String, _ path: String) -> EmbeddedServerError {
        EmbeddedServerError(.fileSystem, "\(path) \(what): \(String(cString: strerror(errno))).")
    }

    /// FNV-1a: short and stable for ever; it need not be secret, because the folder's owner is
    /// checked.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
