import Events
import Testing

@testable import AppStore

/// Seats have no place of their own in the log: programs before and after 2026-11 keep the same bytes
/// of a payload, and a rebuild reads both.
struct SeatContentTests {
    private let info =
        "\"multiSeatInfo\":{\"priceTiers\":[{\"price\":1000,\"quantity\":8},"
        + "{\"quantity\":4,\"price\":800}],\"invitationManagement\":\"APPLE\"}"

    @Test func `the bytes of a multiseat transaction are those of the program of 340091fd`() throws
    {
        let pki = try TestPKI()
        let payload =
            "{\"transactionId\":\"9\",\"originalTransactionId\":\"7\",\"bundleId\":\"app.a\","
            + "\"environment\":\"Sandbox\",\"purchaseDate\":1700000000000,"
            + "\"expiresDate\":1700086400000,\"signedDate\":1700000001000,"
            + "\"type\":\"Auto-Renewable Subscription\",\"productId\":\"team\","
            + "\"inAppOwnershipType\":\"PURCHASED\",\"quantity\":12,\"price\":933,"
            + "\"currency\":\"EUR\",\(info)}"
        let verifier = AppStoreVerifier(policy: try pki.policy())
        let fact = try #require(try verifier.facts(try pki.sign(payload)).first)
        let hex = fact.content.canonicalBytes.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        #expect(
            hex
                == "010101013903047465616d051b4175746f2d52656e657761626c65205375627363726970"
                + "74696f6e06095055524348415345440808000000000000000c0b034555520c0800000000"
                + "000003a53f787b226d756c746953656174496e666f223a7b22696e7669746174696f6e4d"
                + "616e6167656d656e74223a224150504c45222c2270726963655469657273223a5b7b2270"
                + "72696365223a313030302c227175616e74697479223a387d2c7b227072696365223a3830"
                + "302c227175616e74697479223a347d5d7d7d"
        )
    }
}
