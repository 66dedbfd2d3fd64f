import Foundation
package import Postgres

/// A private PostgreSQL server, run from the installed programs.
///
/// It listens on a Unix socket in a folder that only its user may enter, and on no network; a
/// process that can enter needs no password. It outlives the process that started it, so the next
/// one finds it warm. Started by root, it runs as `postgres` or `nobody`. All methods block a
/// separate thread, never a shared one.
///
/// It is for development and small ledgers on one machine. `pg_basebackup` over its socket and
/// `pg_dump` back it up. The operator's settings in `postgresql.conf` override ours and are kept.
package actor EmbeddedServer {
    /// The only role that exists at first, a superuser.
    package static let userName = "subledger"

    /// The database that exists at first: UTF-8, locale C.
    package static let databaseName = "subledger"

    /// Recovery after a crash replays the WAL before the server is ready.
    package static let startTimeoutSeconds = 120

    /// A fast stop writes one checkpoint.
    package static let stopTimeoutSeconds = 60

    /// Another process may hold the lock for a whole start and stop.
    static let lockTimeoutSeconds = startTimeoutSeconds + stopTimeoutSeconds

    /// Processes of a killed server need a moment to notice, and block the next server until then.
    static let orphansTimeoutSeconds = 15

    /// How long the server lives.
    package enum Lifetime: Sendable, Hashable {
        /// Until ``EmbeddedServer/stop()``, also after the end of this process.
        case permanent
        /// Until the end of this process, however it ends; then its home is removed.
        ///
        /// The home must not exist before.
        case process
    }

    /// Deviations from the defaults.
    package struct Options: Sendable {
        /// How long the server lives.
        package var lifetime: Lifetime
        /// Settings of `postgresql.conf` by name, which take effect at the next start.
        package var settings: [String: String]
        /// The folder of the server's programs; nil to search for them.
        package var binaries: String?

        /// The defaults: a permanent server with the settings of a ledger.
        package init(
            lifetime: Lifetime = .permanent,
            settings: [String: String] = [:],
            binaries: String? = nil
        ) {
            self.lifetime = lifetime
            self.settings = settings
            self.binaries = binaries
        }
    }

    /// The state of a server.
    package enum Status: Sendable, Hashable {
        /// No server was ever started in this home.
        case absent
        /// There is data, but no server runs on it.
        case stopped
        /// A server runs, with this process id.
        case running(processId: Int32)
    }

    private let executor = ThreadExecutor(name: "embedded-server")
    private let home: String
    private let options: Options
    private var isWatched = false

    /// Names a server by its home folder; changes nothing yet.
    package init(home: String, options: Options = Options()) {
        self.home = home
        self.options = options
    }

    /// The folder of the programs that a new server runs.
    package static func binaries() throws(EmbeddedServerError) -> String {
        try ServerBinaries.find(explicit: nil, dataVersion: nil).folder
    }

    /// The thread that waits for the server's programs.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Starts the server, or finds it running, and returns how to connect to it.
    ///
    /// Several processes may call it at the same time.
    ///
    /// - Parameter createIfAbsent: Whether to create a server if there is none.
    /// - Returns: How to connect.
    /// - Throws: `notInstalled` with what to install; `absent` if there is no server and none may
    ///   be created, in which case nothing was changed.
    package func start(
        createIfAbsent: Bool = true
    ) throws(EmbeddedServerError) -> ConnectionSettings {
        if !createIfAbsent, try existing() == nil {
            throw EmbeddedServerError(
                .absent,
                "There is no ledger here: no private server was created in \(home). `subledger "
                    + "migrate` creates one with an empty ledger; DATABASE_URL or --database-url "
                    + "selects another database."
            )
        }
        let user = try ServerUser()
        try refuseForeignHome()
        let home = try ServerFolders.makeHome(home, user: user)
        let folders = ServerFolders(home: home, user: user)
        let lock = try FileLock(path: folders.lock, timeoutSeconds: Self.lockTimeoutSeconds)
        try withExtendedLifetime(lock) { () throws(EmbeddedServerError) in
            try folders.make()
            try startLocked(folders)
        }
        return settings(folders)
    }

    /// Stops the server if it runs: open transactions are rolled back, the data is kept.
    package func stop() throws(EmbeddedServerError) {
        guard let folders = try existing() else { return }
        let lock = try FileLock(path: folders.lock, timeoutSeconds: Self.lockTimeoutSeconds)
        try withExtendedLifetime(lock) { () throws(EmbeddedServerError) in
            try stopLocked(folders)
        }
    }

    /// Checks whether the server runs, without changing anything.
    package func status() throws(EmbeddedServerError) -> Status {
        guard let folders = try existing() else { return .absent }
        return switch ServerProcess(folders: folders) {
        case .alive(let pid): .running(processId: pid)
        case .none, .stale: .stopped
        }
    }

    /// The folder of its data, with `postgresql.conf`; nil if no server was ever started.
    package func dataFolder() throws(EmbeddedServerError) -> String? {
        try existing()?.data
    }

    /// The folders of a server that was started before; nil for none.
    private func existing() throws(EmbeddedServerError) -> ServerFolders? {
        let user = try ServerUser()
        guard FileManager.default.fileExists(atPath: home) else { return nil }
        let path = URL(fileURLWithPath: home).resolvingSymlinksInPath().path
        let folders = ServerFolders(home: path, user: user)
        return folders.dataVersion == nil ? nil : folders
    }

    private func refuseForeignHome() throws(EmbeddedServerError) {
        guard options.lifetime == .process, !isWatched else { return }
        guard !FileManager.default.fileExists(atPath: home) else {
            throw EmbeddedServerError(
                .notOurs,
                "The folder \(home) exists, and a server for one process would remove it when it "
                    + "stops. Name a folder that does not exist."
            )
        }
    }
}

extension EmbeddedServer {
    private func startLocked(_ folders: ServerFolders) throws(EmbeddedServerError) {
        let binaries = try binaries(folders)
        try watch(folders, binaries)
        var process = ServerProcess(folders: folders)
        if case .alive = process {
            if folders.isSocketLost {
                try stopLocked(folders)
            } else if try isReadyInTime(folders) {
                return
            }
            process = ServerProcess(folders: folders)
        }
        if process == .stale { unlink(folders.processFile) }
        let cluster = ServerCluster(
            binaries: binaries,
            folders: folders,
            settings: options.settings
        )
        if folders.dataVersion == nil { try cluster.create() }
        try cluster.configure()
        let wait = process == .stale ? Self.orphansTimeoutSeconds : 0
        try launch(folders, binaries, waitSeconds: wait)
    }

    private func stopLocked(_ folders: ServerFolders) throws(EmbeddedServerError) {
        guard case .alive = ServerProcess(folders: folders) else { return }
        let command = try binaries(folders).control(
            ["stop", "-m", "fast", "-t", String(Self.stopTimeoutSeconds)],
            folders
        )
        let ending = try ChildProcess(command: command).run()
        guard ending.succeeded else {
            throw EmbeddedServerError(
                .didNotStop,
                "The server did not stop within \(Self.stopTimeoutSeconds) seconds. Its log is "
                    + "\(folders.log).",
                output: ending.output
            )
        }
    }

    private func binaries(_ folders: ServerFolders) throws(EmbeddedServerError) -> ServerBinaries {
        try ServerBinaries.find(explicit: options.binaries, dataVersion: folders.dataVersion)
    }

    private func launch(
        _ folders: ServerFolders,
        _ binaries: ServerBinaries,
        waitSeconds: Int
    ) throws(EmbeddedServerError) {
        let command = binaries.control(
            ["start", "-t", String(Self.startTimeoutSeconds), "-l", folders.log],
            folders
        )
        let deadline = ContinuousClock.now + .seconds(waitSeconds)
        let logStart = Self.size(folders.log)
        while true {
            let ending = try ChildProcess(command: command).run()
            if ending.succeeded { return }
            guard ContinuousClock.now < deadline else {
                throw EmbeddedServerError(
                    .didNotStart,
                    "The server did not start. See its log: \(folders.log)",
                    output: Self.tail(folders.log, from: logStart) ?? ending.output
                )
            }
            usleep(Self.pollMicroseconds)
        }
    }

    private static let pollMicroseconds: UInt32 = 100_000

    /// Waits for a server that another process has started; false if it dies instead, like a server
    /// that was just killed and still holds its shared memory.
    private func isReadyInTime(_ folders: ServerFolders) throws(EmbeddedServerError) -> Bool {
        let deadline = ContinuousClock.now + .seconds(Self.startTimeoutSeconds)
        while !settings(folders).isServerReady() {
            guard ContinuousClock.now < deadline else {
                throw EmbeddedServerError(
                    .didNotStart,
                    "The server runs but does not become ready. See its log: \(folders.log)"
                )
            }
            guard case .alive = ServerProcess(folders: folders) else { return false }
            usleep(Self.pollMicroseconds)
        }
        return true
    }

    private func settings(_ folders: ServerFolders) -> ConnectionSettings {
        let host = folders.sockets.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        // Checking the peer's name prevents a stranger from answering in a folder that was swept
        // from /tmp.
        var settings = ConnectionSettings(
            "host='\(host)' port=\(ServerFolders.port) user=\(Self.userName) "
                + "dbname=\(Self.databaseName) requirepeer=\(folders.user.name) "
                + "sslmode=disable gssencmode=disable"
        )
        settings.source = "the private server in \(home)"
        return settings
    }

    /// Starts a process that stops the server and removes its home once this process has ended.
    ///
    /// It waits for the end of a pipe that we never close, so it notices however we die.
    private func watch(
        _ folders: ServerFolders,
        _ binaries: ServerBinaries
    ) throws(EmbeddedServerError) {
        guard options.lifetime == .process, !isWatched else { return }
        let (output, _) = try ChildProcess.pipe()
        defer { close(output) }
        let script = """
            cat > /dev/null; home=$1; root=$2; sockets=$3; shift 3
            "$@" > /dev/null 2>&1; rm -rf -- "$home" "$root" "$sockets"
            """
        let stop = binaries.control(["stop", "-m", "immediate"], folders)
        let places = [folders.home, folders.root, folders.sockets]
        let command = ["/bin/sh", "-c", script, "subledger-watch"] + places + stop
        try ChildProcess(command: command, input: output).spawn(output: nil)
        isWatched = true
    }

    private static func size(_ path: String) -> UInt64 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(status.st_size) : 0
    }

    /// The log from a point on, cut to the length of one message.
    private static func tail(_ path: String, from start: UInt64) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        do {
            try file.seek(toOffset: start)
            let bytes = try file.read(upToCount: 16 * 1024) ?? Data()
            try file.close()
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            // The message names the log, and is true without the log's content.
            return nil
        }
    }
}
