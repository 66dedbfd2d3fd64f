import Foundation

/// The server's process according to its data folder, and as it really is.
///
/// PostgreSQL's own check takes any process with that id for the server: a zombie in a container
/// whose first process does not reap, or an unrelated process after a reboot, would prevent it from
/// starting for ever.
enum ServerProcess: Equatable {
    case none
    /// The file exists but the process does not: the server was killed.
    case stale
    case alive(pid_t)

    /// Reads `postmaster.pid` and checks the process that it names.
    init(folders: ServerFolders) {
        guard let text = FileManager.default.contents(atPath: folders.processFile) else {
            self = .none
            return
        }
        let firstLine = String(decoding: text, as: UTF8.self).prefix { $0 != "\n" }
        guard let pid = pid_t(firstLine), pid > 0, Self.isServer(pid, folders) else {
            self = .stale
            return
        }
        self = .alive(pid)
    }

    private static func isServer(_ pid: pid_t, _ folders: ServerFolders) -> Bool {
        guard kill(pid, 0) == 0 || errno == EPERM else { return false }
        #if os(Linux)
        guard let status = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else {
            return false
        }
        // The name before the state may contain anything, including a parenthesis.
        let fields = String(decoding: status, as: UTF8.self).split(separator: ")").last ?? ""
        if ["Z", "X"].contains(fields.trimmingCharacters(in: .whitespaces).prefix(1)) {
            return false
        }
        var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/\(pid)/cwd", &folder, folder.count)
        // A process that we may not inspect counts as alive.
        guard length > 0 else { return true }
        let path = String(
            decoding: folder.prefix(length).map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
        return path == URL(fileURLWithPath: folders.data).resolvingSymlinksInPath().path
        #else
        return true
        #endif
    }
}
