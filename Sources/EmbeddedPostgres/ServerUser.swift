import Foundation

/// The user the server runs as: ours, or an unprivileged one because PostgreSQL refuses root.
struct ServerUser {
    /// How to run a command as another user.
    enum Switch: String, CaseIterable {
        case setpriv
        case runuser
        case su
    }

    let name: String
    let uid: uid_t
    let gid: gid_t
    private let way: (kind: Switch, path: String)?

    /// Our own user; for root `postgres`, otherwise `nobody`, through a program that can switch
    /// users.
    init(switches: [Switch] = Switch.allCases) throws(EmbeddedServerError) {
        if geteuid() != 0 {
            self = Self.ourselves
            return
        }

        let folders = ServerBinaries.searchPath() + ["/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        let way = switches.lazy.compactMap { kind in
            ServerBinaries.executable(kind.rawValue, in: folders).map { (kind, $0) }
        }.first
        guard let way else {
            throw EmbeddedServerError(
                .noUnprivilegedUser,
                "PostgreSQL does not run as root, and none of setpriv, runuser and su was found. "
                    + "Run as another user, or install util-linux."
            )
        }

        for name in ["postgres", "nobody"] {
            guard let entry = getpwnam(name) else { continue }
            self.name = name
            uid = entry.pointee.pw_uid
            gid = entry.pointee.pw_gid
            self.way = way
            return
        }
        throw EmbeddedServerError(
            .noUnprivilegedUser,
            "PostgreSQL does not run as root, and neither user postgres nor nobody exists. "
                + "Run as another user, or create one of them."
        )
    }

    private init(name: String, uid: uid_t, gid: gid_t) {
        self.name = name
        self.uid = uid
        self.gid = gid
        way = nil
    }

    private static var ourselves: ServerUser {
        let uid = geteuid()
        let name = getpwuid(uid).map { String(cString: $0.pointee.pw_name) } ?? String(uid)
        return ServerUser(name: name, uid: uid, gid: getegid())
    }

    /// Whether the server runs as another user than this process.
    var isAnother: Bool { way != nil }

    /// The command line that runs a command as this user.
    func command(_ command: [String]) -> [String] {
        guard let way else { return command }
        switch way.kind {
        case .setpriv:
            return [way.path, "--reuid=\(uid)", "--regid=\(gid)", "--init-groups", "--"] + command
        case .runuser:
            return [way.path, "-u", name, "--"] + command
        case .su:
            // The words reach the shell as parameters, not as text that it parses.
            return [way.path, "-s", "/bin/sh", "-c", "exec \"$0\" \"$@\"", "--", name] + command
        }
    }

    /// Whether this user can enter a folder and all folders above it.
    ///
    /// Checks only the classic permission bits, so it may return false even if an ACL allows it.
    func canReach(_ folder: String) -> Bool {
        var path = URL(fileURLWithPath: folder).resolvingSymlinksInPath().path
        while true {
            var status = stat()
            guard stat(path, &status) == 0, canPass(status) else { return false }
            if path == "/" { return true }
            path = URL(fileURLWithPath: path).deletingLastPathComponent().path
        }
    }

    private func canPass(_ status: stat) -> Bool {
        if status.st_uid == uid { return status.st_mode & S_IXUSR != 0 }
        if status.st_gid == gid { return status.st_mode & S_IXGRP != 0 }
        return status.st_mode & S_IXOTH != 0
    }
}
