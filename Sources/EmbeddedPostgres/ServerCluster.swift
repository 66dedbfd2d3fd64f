import Foundation

/// Creates and configures the data folder of an embedded server.
struct ServerCluster {
    let binaries: ServerBinaries
    let folders: ServerFolders
    let settings: [String: String]

    private var user: ServerUser { folders.user }

    /// Creates the data folder with its database, or nothing.
    ///
    /// The folder gets its name only when it is complete, so a process killed on the way never
    /// leaves an incomplete one under that name.
    func create() throws(EmbeddedServerError) {
        try removeUnfinished()
        let data = folders.unfinishedData
        var initialise = [
            binaries.path("initdb"), "-D", data, "-U", EmbeddedServer.userName,
            "-E", "UTF8", "--locale=C", "--data-checksums", "-A", "trust", "--no-instructions",
        ]
        if settings["fsync"] == "off" { initialise.append("--no-sync") }
        try run(initialise)
        try write("local all all trust\nlocal replication all trust\n", to: "\(data)/pg_hba.conf")
        try write(
            """
            # Subledger's settings; this file is rewritten at every start.
            include 'subledger.conf'

            # Add your own settings below this line. They override those above, are kept, and take
            # effect at the next start: run `subledger database stop`.

            """,
            to: "\(data)/postgresql.conf"
        )
        try writeSettings(to: "\(data)/subledger.conf", hasLZ4: false)
        try createDatabase(data)
        guard rename(data, folders.data) == 0 else {
            throw ServerFolders.failed("cannot be renamed", data)
        }
    }

    private func write(_ text: String, to path: String) throws(EmbeddedServerError) {
        try ServerFolders.write(text, to: path, mode: 0o600, owner: user)
    }

    /// Writes the settings that the next start reads.
    func configure() throws(EmbeddedServerError) {
        // A server built without lz4 refuses to start with it.
        let probe = ChildProcess(
            command: user.command([
                binaries.path("postgres"), "-D", folders.data,
                "-c", "default_toast_compression=lz4", "-C", "default_toast_compression",
            ])
        )
        try writeSettings(to: folders.settings, hasLZ4: try probe.run().succeeded)
    }

    private func writeSettings(to path: String, hasLZ4: Bool) throws(EmbeddedServerError) {
        var all = [
            "listen_addresses": "",
            "port": String(ServerFolders.port),
            "unix_socket_directories": folders.sockets,
            "unix_socket_permissions": "0700",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "lc_messages": "C",
            // Statements and rows contain customers' data, which does not belong in a log.
            "log_min_error_statement": "panic",
            "log_error_verbosity": "terse",
            // Allows pg_basebackup: one connection for the files, one for the WAL, and room for a
            // second backup.
            "wal_level": "replica",
            "max_wal_senders": "4",
            "max_wal_size": "4GB",
            // Memory is allocated only as it is used.
            "shared_buffers": "512MB",
        ]
        if hasLZ4 { all["default_toast_compression"] = "lz4" }
        all.merge(settings) { _, chosen in chosen }

        let lines = all.sorted { $0.key < $1.key }.map { name, value in
            "\(name) = '\(value.replacing("'", with: "''"))'\n"
        }
        try write("# Rewritten at every start.\n" + lines.joined(), to: path)
    }

    /// Creates the database before the server first starts, so no server ever runs without it.
    private func createDatabase(_ data: String) throws(EmbeddedServerError) {
        let statement = "CREATE DATABASE \(EmbeddedServer.databaseName) TEMPLATE template0;\n"
        let ends = try ChildProcess.pipe()
        // A text this short fits into the pipe before it is read.
        let bytes = Array(statement.utf8)
        let written = Foundation.write(ends.input, bytes, bytes.count)
        close(ends.input)
        defer { close(ends.output) }
        guard written == bytes.count else {
            throw EmbeddedServerError(.fileSystem, "A pipe could not be written.")
        }
        try run(
            [
                binaries.path("postgres"), "--single", "-D", data,
                "-c", "exit_on_error=on", "template1",
            ],
            input: ends.output
        )
    }

    private func run(_ command: [String], input: Int32? = nil) throws(EmbeddedServerError) {
        let ending = try ChildProcess(command: user.command(command), input: input).run()
        guard ending.succeeded else {
            throw EmbeddedServerError(
                .programFailed,
                "\(command[0]) failed with code \(ending.code) while making \(folders.data). "
                    + "Check the free space and the permissions of \(user.name) there.",
                output: ending.output
            )
        }
    }

    private func removeUnfinished() throws(EmbeddedServerError) {
        let path = folders.unfinishedData
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            throw EmbeddedServerError(
                .fileSystem,
                "\(path), left by a start that was killed, cannot be removed: "
                    + "\(error.localizedDescription)."
            )
        }
    }
}
