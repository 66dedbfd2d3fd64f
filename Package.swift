// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "subledger",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto.git", "3.12.3"..<"5.0.0")
    ],
    targets: [
        .target(
            name: "Events",
            dependencies: [.product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict
        ),
        .systemLibrary(
            name: "CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .target(name: "Postgres", dependencies: ["CPostgres"], swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: ["Postgres"],
            path: "Tests/TestSupport",
            swiftSettings: strict
        ),
        .testTarget(name: "EventsTests", dependencies: ["Events"], swiftSettings: strict),
        .testTarget(
            name: "PostgresTests",
            dependencies: ["Postgres", "TestSupport"],
            swiftSettings: strict
        ),
    ]
)
