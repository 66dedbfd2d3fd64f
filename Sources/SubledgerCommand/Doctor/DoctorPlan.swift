import CommandSupport
import Configuration
import Foundation
import SubledgerAppStore

/// The inputs of `doctor`: the settings of `serve` and of `poll`, as those commands read them.
struct DoctorPlan {
    /// The settings of `poll`, or the error in them.
    let poll: Result<PollPlan, Failure>
    /// The settings of `serve`, or the reason why they cannot be read.
    let service: Result<ServiceSettings, Failure>
    /// The location of the database.
    let database: DatabaseOptions

    /// The settings with which `serve` would run.
    struct ServiceSettings {
        /// The address at which it listens.
        let place: ServicePlace
        /// The access to Apple.
        let apple: AppleAccess
        /// What is trusted.
        let trust: TrustOptions
    }

    /// The address at which a service is expected.
    enum ServicePlace {
        /// At this URL, because a setting names it.
        case named(String)
        /// At this URL, where `serve` listens by default.
        case byDefault(String)
        /// At an address that can be reached only by the name in its certificate.
        case behindTLS
    }

    /// Reads all settings.
    ///
    /// - Parameters:
    ///   - command: The flags.
    ///   - environment: The variables of the process.
    /// - Throws: Nothing about a wrong setting, because that is a finding.
    init(_ command: DoctorCommand, _ environment: [String: String]) async throws {
        let files = DoctorPlan.files(command.config)
        poll = try await DoctorPlan.reading {
            try await PollPlan(
                flags: command.pollFlags,
                environment,
                file: files.poll,
                trust: command.trust,
                database: command.database
            )
        }

        var database = command.database
        service = try await DoctorPlan.reading {
            var settings = try await CommandSettings(
                of: .serve,
                flags: command.serviceFlags,
                database: command.database,
                environment: environment,
                file: files.serve
            )
            database = try settings.database(database)
            return ServiceSettings(
                place: try command.url.map(ServicePlace.named) ?? DoctorPlan.place(&settings),
                apple: try AppleAccess(&settings),
                trust: try ServePlan.trust(&settings)
            )
        }

        if database.databaseUrl == nil, case .success(let plan) = poll {
            database = plan.database
        }
        self.database = database
    }

    /// The keys that are set, each with the command whose settings contain it; first the key of
    /// `poll`, which flags set, too.
    var keys: [(command: String, apple: AppleAccess, trust: TrustOptions)] {
        var keys: [(String, AppleAccess, TrustOptions)] = []
        if case .success(let plan) = poll, plan.apple.hasKeySettings {
            keys.append(("poll", plan.apple, plan.trust))
        }
        if case .success(let plan) = service, plan.apple.hasKeySettings {
            keys.append(("serve", plan.apple, plan.trust))
        }
        return keys
    }

    /// The root certificates of `serve` that no flag names.
    func serviceRoots(besides flags: TrustOptions) -> [String] {
        guard case .success(let service) = service else { return [] }
        return service.trust.rootCertificate.filter { !flags.rootCertificate.contains($0) }
    }

    private static func reading<Value>(
        _ read: () async throws -> Value
    ) async throws -> Result<Value, Failure> {
        do {
            return .success(try await read())
        } catch let failure as Failure {
            return .failure(failure)
        }
    }

    private static func place(
        _ settings: inout CommandSettings
    ) throws -> ServicePlace {
        let (host, port) = try settings.place()
        guard try settings.text(.tlsCertificate, "a file") == nil else { return .behindTLS }
        let isAny = ["0.0.0.0", "::"].contains(host)
        let name = isAny ? "127.0.0.1" : host.contains(":") ? "[\(host)]" : host
        let url = "http://\(name):\(port == 0 ? 8080 : port)"
        let isNamed = settings.isSet(.host) || settings.isSet(.port) && port != 0
        return isNamed ? .named(url) : .byDefault(url)
    }

    // A file belongs to `serve` if all its members do; otherwise it is read as that of `poll`,
    // which reports unknown members.
    private static func files(_ paths: [String]) -> (poll: String?, serve: String?) {
        var files: (poll: String?, serve: String?)
        for path in paths {
            let data = FileManager.default.contents(atPath: path) ?? Data()
            let members: [String]
            do {
                members =
                    (try JSONSerialization.jsonObject(with: data) as? [String: Any])?
                    .keys.sorted() ?? []
            } catch {
                members = []
            }
            let isOfServe =
                !members.isEmpty && members.allSatisfy(Setting.Command.serve.names.contains)
            let isOfPoll = members.allSatisfy(Setting.Command.poll.names.contains)
            if isOfServe { files.serve = path }
            if isOfPoll || !isOfServe { files.poll = path }
        }
        return files
    }
}
