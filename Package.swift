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
        .target(
            name: "Projections",
            dependencies: ["Events"],
            path: "Projections",
            resources: [
                .embedInCode("ActivePeriods/active-periods.sql"),
                .embedInCode("ActivePeriods/active-periods-indexes.sql"),
            ],
            swiftSettings: strict
        ),
        .testTarget(name: "EventsTests", dependencies: ["Events"], swiftSettings: strict),
        .testTarget(
            name: "ProjectionsTests",
            dependencies: ["Events", "Projections"],
            swiftSettings: strict
        ),
    ]
)
