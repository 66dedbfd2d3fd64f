import Events
import Foundation
import Testing

@testable import AppStore

/// The payloads of `../shared/real-data`, where that folder is at hand.
enum RealData {
    /// The folder, found by walking up from this file; nil if it is absent.
    static let folder: URL? = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("shared/real-data")
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
            folder.deleteLastPathComponent()
        }
        print("skipped: no shared/real-data beside the project, real payloads are not tested")
        return nil
    }()

    static var isPresent: Bool { folder != nil }

    static func bytes(_ path: String) throws -> [UInt8] {
        let folder = try #require(RealData.folder)
        return Array(try Data(contentsOf: folder.appendingPathComponent(path)))
    }
}

/// The arrival time that the tests use for payloads.
let receivedAt = Instant(milliseconds: 1_760_000_000_000)

extension AppStoreVerifier {
    func facts(_ payload: [UInt8]) throws(Rejection) -> [Fact] {
        try verify(payload: payload, source: "test", receivedAt: receivedAt).facts
    }

    func facts(_ payload: String) throws(Rejection) -> [Fact] {
        try facts(Array(payload.utf8))
    }

    /// The reason why a payload is refused; nil if it is accepted.
    func rejection(_ payload: [UInt8]) -> Rejection? {
        do throws(Rejection) {
            _ = try facts(payload)
            return nil
        } catch {
            return error
        }
    }

    func refusal(_ payload: [UInt8]) -> Rejection.Code? {
        rejection(payload)?.code
    }

    func refusal(_ payload: String) -> Rejection.Code? {
        refusal(Array(payload.utf8))
    }
}

/// A small seeded generator, so that a failure can be reproduced (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
