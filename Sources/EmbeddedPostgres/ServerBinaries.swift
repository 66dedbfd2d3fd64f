import Foundation

/// The folder of an installed PostgreSQL server's programs.
struct ServerBinaries: Equatable {
    private static let programs = ["postgres", "initdb", "pg_ctl"]

    let folder: String

    /// Accepts a folder that has all the programs; otherwise nil.
    init?(folder: String) {
        let isComplete = Self.programs.allSatisfy {
            FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)")
        }
        guard isComplete else { return nil }
        self.folder = folder
    }

    func path(_ program: String) -> String { "\(folder)/\(program)" }

    /// The command line that starts or stops a server as its user, and waits for that.
    func control(_ arguments: [String], _ folders: ServerFolders) -> [String] {
        folders.user.command([path("pg_ctl")] + arguments + ["--silent", "-w", "-D", folders.data])
    }

    /// Finds the programs; for existing data, those of its major version.
    ///
    /// Searches where `pg_config` points, in PATH, then in the folders of the distributions, newest
    /// first.
    static func find(
        explicit: String?,
        dataVersion: String?
    ) throws(EmbeddedServerError) -> ServerBinaries {
        let folders = explicit.map { [$0] } ?? candidates()
        var seen: Set<String> = []
        let found = folders.map(resolved).filter { seen.insert($0).inserted }
            .compactMap(ServerBinaries.init(folder:))
        guard !found.isEmpty else { throw notInstalled(explicit) }
        guard let dataVersion else { return found[0] }
        for binaries in found where try binaries.majorVersion() == dataVersion { return binaries }
        throw EmbeddedServerError(
            .wrongVersion,
            "PostgreSQL \(dataVersion) created the data, but it is not installed. Install that "
                + "version, or upgrade the data with pg_upgrade."
        )
    }

    /// The major version in the form of a data folder's PG_VERSION, such as `15`.
    private func majorVersion() throws(EmbeddedServerError) -> String {
        let ending = try ChildProcess(command: [path("postgres"), "--version"]).run()
        let digits = ending.output.drop { !$0.isNumber }.prefix { $0.isNumber }
        return String(digits)
    }

    private static func candidates() -> [String] {
        configured() + searchPath() + distributions()
    }

    static func searchPath() -> [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    private static func configured() -> [String] {
        guard let program = executable("pg_config", in: searchPath()) else { return [] }
        do {
            let ending = try ChildProcess(command: [program, "--bindir"]).run()
            return ending.succeeded ? [ending.output] : []
        } catch {
            // A pg_config that cannot be run is ignored: other places are searched next.
            return []
        }
    }

    private static func distributions() -> [String] {
        let homebrew = ["/opt/homebrew/opt", "/usr/local/opt"].flatMap { base in
            newestFirst(base) { $0.hasPrefix("postgresql") }
        }
        return newestFirst("/usr/lib/postgresql") { _ in true }
            + homebrew
            + newestFirst("/Library/PostgreSQL") { _ in true }
            + newestFirst("/usr") { $0.hasPrefix("pgsql-") }
    }

    /// The `bin` folders under a base, the highest version first.
    private static func newestFirst(_ base: String, _ accept: (String) -> Bool) -> [String] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: base)
        } catch {
            // The folder belongs to a distribution other than ours.
            return []
        }
        return names.filter(accept)
            .sorted { $0.compare($1, options: .numeric) == .orderedDescending }
            .map { "\(base)/\($0)/bin" }
    }

    /// The program of that name in the first of these folders that has it.
    static func executable(_ name: String, in folders: [String]) -> String? {
        folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// The folder behind links, so a link to one program leads to all of them.
    private static func resolved(_ folder: String) -> String {
        let program = URL(fileURLWithPath: "\(folder)/postgres").resolvingSymlinksInPath()
        return program.deletingLastPathComponent().path
    }

    private static func notInstalled(_ explicit: String?) -> EmbeddedServerError {
        let place = explicit.map { " in \($0)" } ?? ""
        return EmbeddedServerError(
            .notInstalled,
            "No PostgreSQL server was found\(place). Install one (Debian and Ubuntu: "
                + "apt-get install postgresql; macOS: brew install postgresql), or set "
                + "DATABASE_URL or PGHOST to use one that runs elsewhere."
        )
    }
}
