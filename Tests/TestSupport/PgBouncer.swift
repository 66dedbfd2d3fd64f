import Foundation
package import Postgres

/// A PgBouncer in front of a server, for as long as the object lives or this process does.
package final class PgBouncer: Sendable {
    /// How it assigns its connections.
    package enum Mode: String, Sendable, CaseIterable {
        /// One server connection for each client.
        case session
        /// One for each transaction.
        case transaction
    }

    /// The connection through it to the database in the server's settings.
    package let settings: ConnectionSettings

    private let ending = Pipe()
    private let folder: String

    private static var program: String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        // Debian installs it where only root searches.
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
        return folders.map { "\($0)/pgbouncer" }.first(
            where: FileManager.default.isExecutableFile
        )
    }

    /// Starts one, and waits until it answers.
    ///
    /// - Parameters:
    ///   - server: A server on a Unix socket.
    ///   - mode: How it deals its connections out.
    ///   - options: Further lines of its section `[pgbouncer]`.
    /// - Throws: `PgBouncerMissing`, `PgBouncerSilent`.
    package init(
        of server: ConnectionSettings,
        mode: Mode,
        options: [String] = []
    ) async throws {
        guard let program = PgBouncer.program else { throw PgBouncerMissing() }
        let session = try await PostgresSession.connect(server)
        let place = try await session.query(
            """
            SELECT current_setting('unix_socket_directories'), current_setting('port'),
                current_user::text, current_database()::text
            """
        ).single()
        await session.close()
        let (user, database) = (try place.text(2), try place.text(3))
        folder = "/tmp/pgbouncer-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o777]
        )
        chmod(folder, 0o777)
        let lines =
            [
                "[databases]",
                "* = host=\(try place.text(0)) port=\(try place.text(1)) user=\(user)",
                "[pgbouncer]", "unix_socket_dir = \(folder)", "listen_port = 6432",
                "listen_addr =", "auth_type = any", "pool_mode = \(mode.rawValue)",
            ] + options + (geteuid() == 0 ? ["user = postgres"] : [])
        try lines.joined(separator: "\n").write(
            toFile: "\(folder)/pgbouncer.ini",
            atomically: false,
            encoding: .utf8
        )
        settings = ConnectionSettings(
            "host=\(folder) port=6432 user=\(user) dbname=\(database) sslmode=disable"
        )
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        // Waits for the end of a pipe that this process holds, so that it never outlives this
        // process.
        process.arguments = [
            "-c",
            "\"$1\" -q \"$2/pgbouncer.ini\" < /dev/null > \"$2/log\" 2>&1 & cat > /dev/null; "
                + "kill -9 $!; wait; rm -rf -- \"$2\"",
            "pgbouncer", program, folder,
        ]
        process.standardInput = ending
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        // A process started meanwhile must not keep the pipe open.
        _ = fcntl(ending.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        try await waitUntilItListens()
    }

    deinit {
        do { try ending.fileHandleForWriting.close() } catch { print("PgBouncer: \(error)") }
    }

    private static func isListening(at path: String) -> Bool {
        #if canImport(Glibc)
        let kind = Int32(SOCK_STREAM.rawValue)
        #else
        let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { place in
            place.copyBytes(from: Array(path.utf8).prefix(place.count - 1))
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private func waitUntilItListens() async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        // Its socket exists a moment before it listens.
        while !PgBouncer.isListening(at: "\(folder)/.s.PGSQL.6432") {
            guard ContinuousClock.now < deadline else {
                let log = FileManager.default.contents(atPath: "\(folder)/log") ?? Data()
                throw PgBouncerSilent(log: String(decoding: log, as: UTF8.self))
            }
            await Task.yield()
        }
    }
}

/// PgBouncer is not installed.
package struct PgBouncerMissing: Error {}

/// PgBouncer did not begin to listen.
package struct PgBouncerSilent: Error {
    /// What it wrote.
    package let log: String
}
