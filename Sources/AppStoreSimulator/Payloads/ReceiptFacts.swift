internal import Crypto
internal import Events

/// What old formats state about a customer's copy of the app and about the device; it follows from
/// the seed.
struct ReceiptFacts {
    /// Apple's number of the download, up to 5·10^18; zero in the sandbox.
    let downloadId: Int64
    /// Apple's number of the app's version; zero in the sandbox.
    let versionExternalId: Int64
    /// The app's number; zero in the sandbox.
    let appItemId: Int64
    /// When the app itself was obtained; a constant in the sandbox
    /// (Apple's data: verifyReceipt response).
    let downloadDate: Instant
    /// When it was ordered before its release; nil for most customers.
    let preorderDate: Instant?
    /// The version that was obtained first; `1.0` in the sandbox.
    let originalVersion: String
    /// The version that is installed.
    let version = "42"
    /// The sixteen bytes of `identifierForVendor`.
    let deviceIdentifier: [UInt8]
    /// That identifier as iOS 6 wrote it, and the serial number it wrote next to it.
    let uniqueVendorIdentifier: String
    let uniqueIdentifier: String
    /// Sixteen bytes whose only purpose is to salt the hash of the receipt.
    let opaqueValue: [UInt8]
    /// What Apple puts into attributes 6 and 7, which only Apple can read.
    let sealed: [[UInt8]]

    /// The facts of a life.
    init(_ life: SubscriptionLife) {
        var generator = SeededGenerator(
            seed: life.identity.seed ^ Self.branch,
            branch: UInt64(life.identity.index)
        )
        let isSandbox = life.store.environment == .sandbox
        let download = generator.integer(in: 500_000_000_000_000_000...4_000_000_000_000_000_000)
        let version = generator.integer(in: 800_000_000...899_999_999)
        downloadId = isSandbox ? 0 : download
        versionExternalId = isSandbox ? 0 : version
        appItemId = isSandbox ? 0 : life.store.appAppleId

        let daysBefore = generator.integer(in: 0...400)
        if !isSandbox, let start = life.chapters.first?.step.at {
            let before = daysBefore * SimulatedCalendar.day + SimulatedCalendar.hour
            downloadDate = start.advanced(by: -before)
        } else {
            downloadDate = Self.sandboxDownload
        }
        preorderDate =
            generator.chance(percent: 10) && !isSandbox
            ? downloadDate.advanced(days: -30) : nil

        originalVersion = isSandbox ? "1.0" : "30"
        deviceIdentifier = generator.bytes(16)
        uniqueVendorIdentifier = generator.uuid().uppercased()
        uniqueIdentifier = "00008020-" + Self.hexadecimal(generator.bytes(8))
        opaqueValue = generator.bytes(16)
        sealed = [generator.bytes(59), generator.bytes(51)]
    }

    /// SHA-1 of device, opaque value and bundle id, the last as encoded
    /// (Apple's data: app receipts).
    func hash(encodedBundleId: [UInt8]) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: deviceIdentifier + opaqueValue + encodedBundleId))
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    // 2013-08-01 07:00:00 UTC.
    private static let sandboxDownload = Instant(milliseconds: 1_375_340_400_000)
    private static let branch: UInt64 = 0x5245_4345_4950_5400
}

extension SubscriptionLife {
    /// The sixteen bytes of the device's `identifierForVendor`, with which the hash of its app
    /// receipts can be checked (Apple's data: app receipts).
    package var deviceIdentifier: [UInt8] { ReceiptFacts(self).deviceIdentifier }
}

extension LifeIdentity {
    /// The milliseconds that iOS 6 kept and later formats cut off (Apple's data: iOS 6 response):
    /// the same for all instants of a life, 1 to 999.
    var subsecond: Int64 { 1 + (index * 37 + 611) % 999 }
}
