// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// What the library alone needs neither to fetch nor to build: a package that depends on it with
// `traits: []` gets none of it. Here all traits are on.
let http: Set = ["HTTP"]
let appStore: Set = ["AppStore"]
let network = http.union(appStore)
let command: Set = ["Command"]

/// A product of another package; without traits, it is always needed.
func product(
    _ name: String,
    of package: String,
    for traits: Set<String>? = nil
) -> Target.Dependency {
    .product(name: name, package: package, condition: traits.flatMap { .when(traits: $0) })
}

let crypto = product("Crypto", of: "swift-crypto")
let rsa = product("_CryptoExtras", of: "swift-crypto")
let x509 = product("X509", of: "swift-certificates")
let asn1 = product("SwiftASN1", of: "swift-asn1")
let hummingbird = product("Hummingbird", of: "hummingbird", for: http)
let hummingbirdCore = product("HummingbirdCore", of: "hummingbird", for: http)
let hummingbirdTLS = product("HummingbirdTLS", of: "hummingbird", for: http)
let nioSSL = product("NIOSSL", of: "swift-nio-ssl", for: http)
let configuration = product("Configuration", of: "swift-configuration", for: command)
let systemPackage = product("SystemPackage", of: "swift-system", for: command)
let hummingbirdTesting = product("HummingbirdTesting", of: "hummingbird", for: http)
let httpTypes = product("HTTPTypes", of: "swift-http-types", for: http)
let nioCore = product("NIOCore", of: "swift-nio", for: network)
let nioHTTP1 = product("NIOHTTP1", of: "swift-nio", for: network)
let nioPosix = product("NIOPosix", of: "swift-nio", for: network)
let logging = product("Logging", of: "swift-log", for: http)
let metrics = product("Metrics", of: "swift-metrics", for: http)
let coreMetrics = product("CoreMetrics", of: "swift-metrics", for: http)
let asyncHTTPClient = product("AsyncHTTPClient", of: "async-http-client", for: appStore)
let lifecycle = product("ServiceLifecycle", of: "swift-service-lifecycle", for: http)
let unixSignals = product("UnixSignals", of: "swift-service-lifecycle", for: http)
let argumentParser = product("ArgumentParser", of: "swift-argument-parser", for: command)

// Arrows point down only; `make lint` builds with the dependency-import check.
let package = Package(
    name: "subledger",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "subledger", targets: ["SubledgerCommand"]),
        .executable(name: "subledger-bench", targets: ["SubledgerBench"]),
        .library(name: "Subledger", targets: ["Subledger"]),
        .library(name: "SubledgerHTTP", targets: ["SubledgerHTTP"]),
        .library(name: "SubledgerTesting", targets: ["SubledgerTesting"]),
        .library(name: "SubledgerAppStore", targets: ["SubledgerAppStore"]),
    ],
    traits: [
        .trait(name: "HTTP", description: "For the product SubledgerHTTP."),
        .trait(name: "AppStore", description: "For the product SubledgerAppStore."),
        .trait(
            name: "Command",
            description: "For the programs.",
            enabledTraits: ["HTTP", "AppStore"]
        ),
        .default(enabledTraits: ["Command"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto.git", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration.git", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-system.git", from: "1.8.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(
            url: "https://github.com/swift-server/swift-service-lifecycle.git",
            from: "2.13.0"
        ),
    ],
    targets: [
        .systemLibrary(
            name: "CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .systemLibrary(name: "CSpawn"),
        .target(name: "Postgres", dependencies: ["CPostgres"], swiftSettings: strict),
        .target(
            name: "EmbeddedPostgres",
            dependencies: ["CSpawn", "Postgres"],
            swiftSettings: strict
        ),
        // C, because the Swift compiler takes half a minute for these files as array literals.
        .target(name: "CEmbeddedFiles"),
        .target(
            name: "Events",
            dependencies: ["CEmbeddedFiles", "CZlib", crypto],
            swiftSettings: strict
        ),
        .target(
            name: "AppStore",
            dependencies: ["CZlib", "Events", crypto, x509, asn1],
            swiftSettings: strict
        ),
        .target(
            name: "LedgerSchema",
            dependencies: ["Events"],
            path: "schema",
            exclude: [
                "README.md", "bootstrap", "checks", "functions", "guard", "migrations",
                "snapshot.sql",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "EventLog",
            dependencies: ["CZlib", "Events", "Postgres", "LedgerSchema"],
            swiftSettings: strict
        ),
        .target(
            name: "Projections",
            dependencies: ["Events"],
            path: "Projections",
            exclude: ["Analytics/SQL", "Tables/SQL"],
            swiftSettings: strict
        ),
        .target(
            name: "Catalog",
            dependencies: ["Events", "Projections"],
            swiftSettings: strict
        ),
        .target(
            name: "Projector",
            dependencies: ["Events", "EventLog", "Postgres", "Projections"],
            exclude: ["SQL"],
            swiftSettings: strict
        ),
        .target(
            name: "Subledger",
            dependencies: [
                "AppStore", "CZlib", "Catalog", "EmbeddedPostgres", "EventLog", "Events",
                "Postgres", "Projections", "Projector",
            ],
            exclude: ["Reports/SQL", "Reports/Changes/SQL"],
            swiftSettings: strict
        ),
        .target(
            name: "SubledgerHTTP",
            dependencies: [
                "AppStore", "Catalog", "EventLog", "Events", "Projections", "Projector",
                "Subledger", coreMetrics, httpTypes, hummingbird, hummingbirdCore, hummingbirdTLS,
                lifecycle, logging, metrics, nioCore, nioHTTP1, nioPosix, nioSSL, unixSignals,
            ],
            exclude: ["Console/console.css", "Console/console.js", "openapi.json"],
            swiftSettings: strict
        ),
        .target(
            name: "SubledgerAppStore",
            dependencies: [
                "AppStore", "EventLog", "Events", "Subledger", asyncHTTPClient, crypto, nioCore,
                nioHTTP1, nioPosix,
            ],
            swiftSettings: strict
        ),
        // What leaves by itself: webhooks, forwarded notifications, alerts.
        .target(
            name: "Deliveries",
            dependencies: [
                "EventLog", "Events", "Projections", "Subledger", "SubledgerAppStore",
                asyncHTTPClient, crypto, nioCore, nioHTTP1,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "AppStoreSimulator",
            dependencies: ["Events", "Projections", crypto, rsa, x509, asn1],
            swiftSettings: strict
        ),
        .target(
            name: "SubledgerTesting",
            dependencies: [
                "AppStore", "AppStoreSimulator", "EmbeddedPostgres", "EventLog", "Events",
                "Projections", "Subledger",
            ],
            swiftSettings: strict
        ),
        .target(
            name: "SimulatedStoreService",
            dependencies: [
                "AppStoreSimulator", "Events", "Projections", asyncHTTPClient, crypto, httpTypes,
                hummingbird, hummingbirdCore, lifecycle, logging, nioCore, nioHTTP1, unixSignals,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "CommandSupport",
            dependencies: [
                "AppStore", "EmbeddedPostgres", "EventLog", "Postgres", "Subledger", argumentParser,
            ],
            swiftSettings: strict
        ),
        // Measures the ledger; nothing of it is in the program.
        .executableTarget(
            name: "SubledgerBench",
            dependencies: [
                "AppStore", "AppStoreSimulator", "CommandSupport", "EventLog", "Events",
                "Postgres", "Projections", "Projector", "Subledger", argumentParser, crypto,
                nioCore, nioHTTP1, nioPosix,
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "SubledgerCommand",
            dependencies: [
                "AppStore", "AppStoreSimulator", "Catalog", "CommandSupport", "Deliveries",
                "EmbeddedPostgres", "EventLog", "Events", "Postgres", "Projections", "Projector",
                "SimulatedStoreService", "Subledger", "SubledgerAppStore", "SubledgerHTTP",
                argumentParser, configuration, lifecycle, logging, systemPackage, unixSignals,
            ],
            exclude: ["Serve/Examples"],
            swiftSettings: strict
        ),
        .target(
            name: "TestSupport",
            dependencies: ["EmbeddedPostgres", "EventLog", "Events", "Postgres", "Projections"],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .testTarget(name: "TidyTests", dependencies: ["Events"], swiftSettings: strict),
        .testTarget(
            name: "EventsTests",
            dependencies: ["Events", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["EmbeddedPostgres", "Postgres", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EmbeddedPostgresTests",
            dependencies: ["EmbeddedPostgres", "Postgres", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EventLogTests",
            dependencies: [
                "AppStore", "AppStoreSimulator", "EmbeddedPostgres", "EventLog", "Events",
                "LedgerSchema", "Postgres", "Projections", "Projector", "TestSupport",
            ],
            exclude: ["read_log.py", "unpack_evidence.py", "verify_chain.py"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ProjectionsTests",
            dependencies: ["Events", "Projections", "TestSupport"],
            exclude: ["kept-folds.txt"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CatalogTests",
            dependencies: [
                "AppStoreSimulator", "Catalog", "Events", "Projections", "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreTests",
            dependencies: [
                "AppStore", "AppStoreSimulator", "Events", crypto, rsa, x509, asn1,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "AppStoreSimulatorTests",
            dependencies: [
                "AppStoreSimulator", "Events", "Projections", "TestSupport", crypto, rsa, x509,
                asn1,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SubledgerTests",
            dependencies: [
                "App", "AppStore", "AppStoreSimulator", "Catalog", "EmbeddedPostgres", "EventLog",
                "Events", "Postgres", "Projections", "Projector", "Subledger", "SubledgerTesting",
                "TestSupport",
            ],
            exclude: ["fold_feed.py", "kept-folds.txt", "pictures.txt"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SubledgerTestingTests",
            dependencies: [
                "AppStore", "Events", "Projections", "Subledger", "SubledgerTesting",
                "TestSupport",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SubledgerAppStoreTests",
            dependencies: [
                "AppStore", "AppStoreSimulator", "EventLog", "Events", "Postgres", "Projections",
                "Projector", "SimulatedStoreService", "Subledger", "SubledgerAppStore",
                "SubledgerCommand", "SubledgerHTTP", "TestSupport", crypto, httpTypes, hummingbird,
                hummingbirdTesting, logging, nioCore,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "DeliveriesTests",
            dependencies: [
                "AppStore", "AppStoreSimulator", "Deliveries", "EventLog", "Events", "Postgres",
                "Subledger", "SubledgerCommand", "TestSupport", httpTypes, hummingbird, logging,
                nioCore,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SubledgerHTTPTests",
            dependencies: [
                "AppStore", "AppStoreSimulator", "EmbeddedPostgres", "EventLog", "Events",
                "Postgres", "Projections", "Subledger", "SubledgerCommand", "SubledgerHTTP",
                "SubledgerTesting", "TestSupport", coreMetrics, httpTypes, hummingbird,
                hummingbirdTesting, logging, nioCore, nioSSL,
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "AppStoreSimulator", "CommandSupport", "EmbeddedPostgres", "EventLog", "Events",
                "App", "OldProgram", "Postgres", "Projections", "Projector", "Subledger",
                "SubledgerBench", "SubledgerCommand", "TestSupport",
            ],
            exclude: [
                "Goldens", "ask_agent.py", "older-erasures.sql", "older-ledger-root.der",
                "older-ledger-truth.ndjson", "older-ledger.sql", "read_export.py",
            ],
            swiftSettings: strict
        ),
        // Not a product: what the documentation shows to those who embed the ledger.
        .executableTarget(
            name: "App",
            dependencies: ["Subledger", "SubledgerHTTP", hummingbird],
            path: "Tests/Example/Sources/App",
            packageAccess: false
        ),
        .testTarget(
            name: "AppTests",
            dependencies: [
                "App", "Subledger", "SubledgerTesting", hummingbird, hummingbirdTesting,
            ],
            path: "Tests/Example/Tests/AppTests",
            packageAccess: false
        ),
        // Not a product: mutated payloads against every decoder, for hours if asked.
        .executableTarget(
            name: "Fuzz",
            dependencies: ["AppStore", "AppStoreSimulator", "EventLog", "Events"],
            path: "Tests/Fuzz",
            exclude: ["libfuzzer"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["Fuzz"],
            swiftSettings: strict
        ),
        // Not a product: an older version, whose tables a rebuild sets right.
        .executableTarget(
            name: "OldProgram",
            dependencies: ["EventLog", "Events", "Postgres", "Projections", "Projector"],
            path: "Tests/OldProgram",
            swiftSettings: strict
        ),
        // Not a product: the process that the crash test kills.
        .executableTarget(
            name: "CrashChild",
            dependencies: ["AppStore", "EventLog", "Events", "Postgres", "Subledger"],
            path: "Tests/CrashChild",
            swiftSettings: strict
        ),
        .testTarget(
            name: "CrashTests",
            dependencies: [
                "AppStore", "AppStoreSimulator", "CrashChild", "EmbeddedPostgres", "EventLog",
                "Events", "Postgres", "Projections", "Projector", "Subledger", "TestSupport",
            ],
            swiftSettings: strict
        ),
    ]
)

// The plugin that builds the documentation: `make docs` sets this, and nothing else needs it.
if Context.environment["SUBLEDGER_DOCS"] == "1" {
    package.dependencies.append(
        .package(url: "https://github.com/swiftlang/swift-docc-plugin.git", from: "1.5.0")
    )
}

// `make` sets this for its debug builds: modules that work through every event are optimised, or
// the tests would take three times as long. SwiftPM refuses this flag in a package that another one
// depends on, where this is never set.
if Context.environment["SUBLEDGER_OPTIMISED"] == "1" {
    let busy = [
        "AppStore", "AppStoreSimulator", "EventLog", "Events", "Postgres", "Projections",
        "Projector", "Subledger",
    ]
    for target in package.targets where busy.contains(target.name) {
        target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-O"])]
    }
}

// Some test targets only, for a short way from a change to its tests:
// SUBLEDGER_TEST_TARGETS=EventsTests,TidyTests swift build --product subledgerPackageTests
if let named = Context.environment["SUBLEDGER_TEST_TARGETS"], !named.isEmpty {
    let names = named.split(separator: ",").map(String.init)
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
