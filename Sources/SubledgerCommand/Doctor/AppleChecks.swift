import AppStoreServerAPI
import CommandSupport
import EventLog
import Events

/// Whether Apple can be asked, and can reach the service.
struct AppleChecks {
    private let plan: DoctorPlan
    private let asks: Bool

    init(_ plan: DoctorPlan, asks: Bool) {
        self.plan = plan
        self.asks = asks
    }

    /// The key, the service's address and, if requested, Apple itself.
    func run() async throws -> [DoctorCheck] {
        let (key, credentials) = key()
        return [key, try await service(), try await apple(credentials)]
    }

    private func key() -> (DoctorCheck, ServerCredentials?) {
        let poll: PollPlan
        switch plan.poll {
        case .success(let plan): poll = plan
        case .failure: return (.notChecked("key", "the settings of poll cannot be read"), nil)
        }
        guard poll.apple.hasKeySettings else {
            return (
                .notChecked(
                    "key",
                    "none is set, so Apple cannot be asked",
                    "set --key, --key-id, --issuer-id and --bundle-id as for `subledger poll`"
                ), nil
            )
        }
        do {
            let credentials = try poll.apple.credentials(poll.trust.bundleId)
            try credentials.check(at: .systemClock())
            return (.ok("key", "\(credentials): readable, private, and signs tokens"), credentials)
        } catch let failure as Failure {
            return (.wrong("key", failure.message, nil), nil)
        } catch {
            return (.wrong("key", "\(error)", nil), nil)
        }
    }

    private func service() async throws -> DoctorCheck {
        let (url, isNamed): (String, Bool)
        switch plan.service {
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

    private func apple(_ credentials: ServerCredentials?) async throws -> DoctorCheck {
        guard asks else {
            return .notChecked(
                "apple",
                "Apple was not asked for a test notification",
                "run `subledger doctor --ask-apple` where the network allows it"
            )
        }
        guard let credentials, case .success(let poll) = plan.poll else {
            return .notChecked("apple", "Apple cannot be asked without a key")
        }
        var limits = ServerLimits()
        // Two requests a minute leave room for any other program.
        limits.rateShare = 1
        let client = AppStoreServerClient(credentials, hosts: poll.apple.hosts, limits: limits)
        let only = poll.trust.environments.compactMap(TrustOptions.knownEnvironment)
        let environment = only == [.sandbox] ? Environment.sandbox : .production
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

    private static func check(result: String?, _ environment: Environment) -> DoctorCheck {
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
