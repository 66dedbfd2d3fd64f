public import AppStoreSimulator
internal import Crypto
internal import Events
internal import Foundation
internal import Hummingbird
internal import HummingbirdCore
public import Logging
internal import NIOCore
public import ServiceLifecycle
internal import UnixSignals

/// A simulated App Store over HTTP: the App Store Server API, verifyReceipt and notifications.
///
/// Production is at `/`, the sandbox at `/sandbox`. It needs no network except this machine's, and
/// proves nothing about purchases: everything follows from the seed, including the keys.
public struct SimulatedStoreServer: Service {
    /// The lives of production, each at its pace.
    public let lives: [SubscriptionLife]
    /// The lives of the sandbox.
    public let sandboxLives: [SubscriptionLife]
    /// The trust anchor of all payloads, in DER.
    public let rootDER: [UInt8]

    private let options: SimulatedStoreOptions
    private let logger: Logger
    private let onListening: @Sendable (String) -> Void
    private let stores: [ServedStore]
    private let key: P256.Signing.PrivateKey

    /// The id of the key that tokens must be signed with.
    public static let keyId = "SIMULATED1"
    /// The issuer that tokens must name.
    public static let issuerId = "57246542-96fe-1a63-e053-0824d011072a"

    /// A store.
    ///
    /// - Parameters:
    ///   - options: Its contents and behaviour.
    ///   - logger: Logs failures.
    ///   - onListening: Receives the URL once connections are accepted.
    public init(
        _ options: SimulatedStoreOptions,
        logger: Logger,
        onListening: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.options = options
        self.logger = logger
        self.onListening = onListening
        func simulator(_ environment: StoreEnvironment) -> AppStoreSimulator {
            AppStoreSimulator(seed: options.seed, environment: environment, extras: options.extras)
        }
        let (production, sandbox) = (simulator(.production), simulator(.sandbox))
        lives = Self.lives(0..<options.subscriptions, of: production, options)
        let sandboxNumbers =
            options.subscriptions..<options.subscriptions + options.sandboxSubscriptions
        sandboxLives = Self.lives(sandboxNumbers, of: sandbox, options)
        rootDER = production.store.pki.rootDER
        stores = [
            ServedStore(production.store, lives: lives),
            ServedStore(sandbox.store, lives: sandboxLives),
        ]
        key = Self.key(seed: options.seed)
    }

    /// The app in which everything is bought.
    public static var bundleId: String { AppStoreSimulator(seed: 0).store.bundleId }

    /// The private key for tokens, in the format of a `.p8` file.
    public var keyPEM: String { key.pemRepresentation }

    /// Serves until the task is cancelled or the program is asked to stop.
    ///
    /// - Throws: `SimulatedStoreError` if it cannot listen at the address.
    public func run() async throws {
        let routes = StoreRoutes(
            stores: stores,
            options: options,
            check: TokenCheck(
                key: key.publicKey,
                keyId: Self.keyId,
                issuerId: Self.issuerId,
                bundleId: Self.bundleId
            )
        )

        let application = Application(
            router: routes.router(),
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: options.port),
                serverName: "subledger-simulated-store"
            ),
            onServerRunning: { [onListening] channel in
                guard let address = channel.localAddress else { return }
                onListening("http://\(address.ipAddress ?? ""):\(address.port ?? 0)")
            },
            logger: logger
        )

        var services: [any Service] = [application]
        if let url = options.notificationURL {
            services += stores.map {
                NotificationSender(store: $0, options: options, url: url, logger: logger)
            }
        }
        let configuration = ServiceGroupConfiguration(
            services: services.map {
                // A sender that has sent everything must not stop the server.
                ServiceGroupConfiguration.ServiceConfiguration(
                    service: $0,
                    successTerminationBehavior: .ignore
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )

        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as IOError {
            let place = "\(options.host), port \(options.port)"
            throw SimulatedStoreError(
                description: error.errnoCode == EADDRINUSE
                    ? "another program listens at \(place); stop it, or serve the store at another "
                        + "port (--serve PORT, 0 for any free one)"
                    : "cannot listen at \(place): " + String(cString: strerror(error.errnoCode))
            )
        }
    }

    private static func lives(
        _ numbers: Range<Int>,
        of simulator: AppStoreSimulator,
        _ options: SimulatedStoreOptions
    ) -> [SubscriptionLife] {
        let openedAt = options.openedAt ?? options.clock()
        return numbers.map { number in
            let life = simulator.life(number)
            guard let month = options.monthMilliseconds, let first = life.events.first else {
                return life
            }
            let place = Int64(number - numbers.lowerBound) * month / Int64(numbers.count)
            return life.at(
                SimulatedPace(
                    origin: first.happenedAt,
                    start: openedAt.advanced(by: place).flooredToSecond,
                    monthMilliseconds: month
                )
            )
        }
    }

    private static func key(seed: UInt64) -> P256.Signing.PrivateKey {
        var generator = SeededGenerator(seed: seed, branch: 0x5038_0000)
        while true {
            do {
                return try P256.Signing.PrivateKey(rawRepresentation: generator.bytes(32))
            } catch {
                // One draw in 2^32 is not a valid key.
                continue
            }
        }
    }
}

/// Why a store cannot be served.
public struct SimulatedStoreError: Error, CustomStringConvertible {
    /// What is wrong, and where.
    public let description: String
}
