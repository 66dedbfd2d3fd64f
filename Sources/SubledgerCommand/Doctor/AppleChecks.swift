import CommandSupport
import EventLog
import Events
import Subledger
import SubledgerAppStore

/// Whether Apple can be asked, and can reach the service.
struct AppleChecks {
    let plan: DoctorPlan
    /// Whether Apple is asked for a test notification.
    let asks: Bool

    /// A usable key, and the hosts and environments to ask.
    private struct Asker {
        let credentials: ServerCredentials
        let hosts: ServerHosts
        let environments: [String]
    }

    /// The keys, the service's address and, if wanted, Apple itself.
    func run() async throws -> [DoctorCheck] {
        let (keys, asker) = keys()
        return keys + [try await service(), try await apple(asker)]
    }

    // A check for each key; the first that can be used asks Apple.
    private func keys() -> ([DoctorCheck], Asker?) {
        guard !plan.keys.isEmpty else {
            guard case .success = plan.poll, case .success = plan.service else {
                return ([.notChecked("key", "the settings of poll or serve cannot be read")], nil)
            }
            let none = DoctorCheck.notChecked(
                "key",
                "none is set, so Apple cannot be asked",
                "set --key, --key-id, --issuer-id and --bundle-id as for `subledger poll`"
            )
            return ([none], nil)
        }

        var checks: [DoctorCheck] = []
        var asker: Asker?
        for (command, apple, trust) in plan.keys {
            do {
                let credentials = try apple.credentials(trust.bundleId)
                try credentials.check(at: .systemClock())
                checks.append(
                    .ok("key", "\(credentials), of \(command): readable, private, and signs tokens")
                )
                asker =
                    asker
                    ?? Asker(
                        credentials: credentials,
                        hosts: apple.hosts,
                        environments: trust.environments
                    )
            } catch let failure as Failure {
                checks.append(.wrong("key", "of \(command): \(failure.message)", nil))
            } catch {
                checks.append(.wrong("key", "of \(command): \(error)", nil))
            }
        }
        return (checks, asker)
    }

    private func service() async throws -> DoctorCheck {
        let (url, isNamed): (String, Bool)
        switch plan.service.map(\.place) {
        case .failure: return .notChecked("service", "the settings of serve cannot be read")
        case .success(.behindTLS):
            return .notChecked(
                "service",
                "it has a certificate, whose name is not in the settings",
                "pass its public address: --url https://HOST"
            )
        case .success(.named(let text)): (url, isNamed) = (text, true)
        case .success(.byDefault(let text)): (url, isNamed) = (text, false)
        }

        let endpoint: NotificationEndpoint
        do throws(ServerError) {
            endpoint = try NotificationEndpoint(url: url)
        } catch {
            return .wrong("service", error.description, "pass --url https://HOST")
        }

        switch try await endpoint.check() {
        case .service(let isLivezReachable):
            let livez = isLivezReachable ? "" : "; /livez is not reachable there"
            return .ok("service", "\(endpoint.url) takes notifications\(livez)")
        case .other(let status):
            return .wrong(
                "service",
                "\(endpoint.url) answers with HTTP status \(status), not as `subledger serve` does",
                "check the path, and the proxy before it (`subledger serve --print-proxy`)"
            )
        case .unreachable(let why) where isNamed:
            return .wrong(
                "service",
                "\(endpoint.url) cannot be reached (\(why))",
                "start `subledger serve`, or correct --url, its host or its port"
            )
        case .unreachable:
            return .notChecked(
                "service",
                "nothing listens at \(endpoint.url), and no other address is set",
                "start `subledger serve`, or pass --url https://HOST"
            )
        }
    }

    private func apple(_ asker: Asker?) async throws -> DoctorCheck {
        guard asks else {
            return .notChecked(
                "apple",
                "Apple was not asked for a test notification",
                "run `subledger doctor --ask-apple` where the network allows it"
            )
        }
        guard let asker else {
            return .notChecked("apple", "Apple cannot be asked without a key")
        }

        var limits = ServerLimits()
        // Two requests a minute leave room for any other program.
        limits.rateShare = 1
        let client = AppStoreServerClient(
            asker.credentials,
            hosts: asker.hosts,
            limits: limits
        )
        let only = asker.environments.compactMap(TrustOptions.knownEnvironment)
        let environment = only == [.sandbox] ? StoreEnvironment.sandbox : .production

        let check: DoctorCheck
        do {
            check = AppleChecks.check(
                result: try await client.testNotification(in: environment),
                environment
            )
        } catch let error as ServerError {
            check = .wrong("apple", error.description, AppleChecks.action(for: error))
        } catch {
            try await client.close()
            throw error
        }
        try await client.close()
        return check
    }

    private static func check(result: String?, _ environment: StoreEnvironment) -> DoctorCheck {
        switch result {
        case "SUCCESS":
            .ok("apple", "a test notification of \(environment.word) reached the service")
        case nil:
            .warning(
                "apple",
                "Apple accepted the request of \(environment.word) and did not send it in "
                    + "\(Int(AppStoreServerClient.testSecondsMax)) s",
                "try again later"
            )
        case let word?:
            .wrong(
                "apple",
                "Apple's test notification of \(environment.word) did not reach the service: "
                    + word,
                "check the URL in App Store Connect, the certificate and the firewall"
            )
        }
    }

    private static func action(for error: ServerError) -> String? {
        switch error.errorCode?.rawValue {
        case 4_040_007:
            "enter the URL of notifications in App Store Connect: the app, App Information"
        default:
            error.code == .unavailable || error.code == .timedOut
                ? "check that this machine may connect to Apple's servers by HTTPS" : nil
        }
    }
}
