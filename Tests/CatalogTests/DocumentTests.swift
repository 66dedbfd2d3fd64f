import AppStoreSimulator
import Catalog
import Events
import Projections
import Testing

/// The normalised JSON in which a version is stored.
@Suite struct DocumentTests {
    private static let instant = Instant(milliseconds: 1_780_000_000_000)

    @Test func `a stored catalog is read back completely`() throws {
        let storekit = Fixtures.storekit(
            5,
            introductory: Fixtures.listedOffers,
            more: Fixtures.billingPlans
        )
        let texts = [
            storekit, Fixtures.storekit1, Fixtures.bundles, Fixtures.groups, Fixtures.subscriptions,
            String(decoding: SimulatedCatalog.storekit, as: UTF8.self),
        ]
        for text in texts {
            let catalog = try read(text).version(7, effectiveFrom: Self.instant)
            let body = try CatalogDocument(catalog).bytes()
            let again = try CatalogDocument.catalog(
                7,
                effectiveFrom: Self.instant,
                body: body
            )
            #expect(again == catalog)
            #expect(try CatalogDocument(again).bytes() == body)
        }
    }

    @Test func `a catalog without bundles has the bytes that earlier versions stored`() throws {
        let catalog = try read(Fixtures.subscription(Fixtures.needed)).catalog
        let body = String(decoding: try CatalogDocument(catalog).bytes(), as: UTF8.self)
        #expect(!body.contains("kind") && !body.contains("bundled"), "\(body)")
    }

    @Test func `a catalog has one text, whatever the layout of its file`() throws {
        let text = Fixtures.storekit(4, introductory: Fixtures.singleOffer)
        let spread = text.replacing(" : ", with: ":").replacing("\n", with: "\n\n  ")
        let other = Fixtures.storekit(5, introductory: Fixtures.listedOffers)
        let bodies = try [text, spread, other].map {
            try CatalogDocument(try read($0).catalog).bytes()
        }
        #expect(bodies[1] == bodies[0])
        #expect(bodies[2] == bodies[0], "the format is not part of it")
    }

    @Test(arguments: [
        "", "{}", "{\"subscriptions\":[]}", "{\"products\":[],\"subscriptions\":[{}]}",
    ])
    func `a stored text that we did not write is refused with its version number`(body: String) {
        let error = #expect(throws: CatalogError.self) {
            _ = try CatalogDocument.catalog(
                3,
                effectiveFrom: Self.instant,
                body: Array(body.utf8)
            )
        }
        #expect(error?.code == .unreadableVersion)
        #expect(error?.message.contains("version 3") == true)
    }

    @Test func `members from a later version of subledger are ignored`() throws {
        let body = "{\"products\":[],\"subscriptions\":[],\"bundles\":[1]}"
        let catalog = try CatalogDocument.catalog(
            1,
            effectiveFrom: Self.instant,
            body: Array(body.utf8)
        )
        #expect(catalog.subscriptions.isEmpty)
    }
}
