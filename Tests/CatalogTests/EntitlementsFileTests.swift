import AppStoreSimulator
import Catalog
import Events
import Projections
import Testing

/// What grants entitlements, as the operator writes it down.
@Suite struct EntitlementsFileTests {
    private static let storekit = String(decoding: SimulatedCatalog.storekit, as: UTF8.self)

    private static func read(_ text: String) throws -> CatalogContent {
        try CatalogFile.read(Array(text.utf8))
    }

    private static func completed(_ text: String) throws -> CatalogContent {
        let sold = try read(storekit).version(1, effectiveFrom: .epoch)
        return try read(text).completed(by: sold)
    }

    @Test func `a file of entitlements leaves the products, and one of products the entitlements`()
        throws
    {
        let content = try Self.completed(
            #"{"entitlements":{"pro":{"products":["b","a","b"],"groups":["21400001"]}}}"#
        )
        let sold = try Self.read(Self.storekit)
        #expect(content.subscriptions.count == sold.subscriptions.count)
        #expect(content.otherProducts.count == sold.otherProducts.count)
        let pro = EntitlementGrants(products: ["a", "b"], groups: ["21400001"])
        #expect(content.entitlements == ["pro": pro] && pro.products == ["a", "b"])

        let granted = content.version(2, effectiveFrom: .epoch)
        #expect(sold.entitlements == nil)
        #expect(sold.completed(by: granted).entitlements == ["pro": pro])
        let none = try Self.read(#"{"entitlements":{}}"#).completed(by: granted)
        #expect(none.entitlements == [:] && none.warnings.isEmpty)
        let body = try CatalogDocument(granted).bytes()
        let again = try CatalogDocument.catalog(2, effectiveFrom: .epoch, body: body)
        #expect(again == granted)
    }

    @Test func `a catalog without entitlements has the bytes that earlier versions stored`() throws
    {
        let catalog = try Self.read(Self.storekit).version(1, effectiveFrom: .epoch)
        let body = String(decoding: try CatalogDocument(catalog).bytes(), as: UTF8.self)
        #expect(!body.contains("entitlements"))
    }

    @Test func `a group may be named by its reference name`() throws {
        let name = try #require(try Self.read(Self.storekit).subscriptions.first?.groupName)
        let content = try Self.completed(#"{"entitlements":{"pro":{"groups":["\#(name)"]}}}"#)
        let groups = content.entitlements?["pro"]?.groups
        #expect(
            groups == [try Self.read(Self.storekit).subscriptions[0].subscriptionGroupIdentifier]
        )
    }

    @Test func `what is not sold, and what no entitlement contains, is warned of`() throws {
        let content = try Self.completed(
            #"{"entitlements":{"pro":{"products":["pro.montly"],"groups":["21400001","Prro"]}}}"#
        )
        let warnings = content.warnings.map { "\($0.code.rawValue): \($0.message)" }
        #expect(warnings.count == 3, "\(warnings)")
        #expect(
            warnings[0].contains("unknown-grant: the entitlement pro names the product pro.montly")
        )
        #expect(warnings[1].contains("names the subscription group Prro"))
        #expect(warnings[2].hasPrefix("not-entitled: no entitlement contains "))
        #expect(
            warnings[2].contains("example.subledger.atlas.") && !warnings[2].contains("credits")
        )
    }

    @Test func `an entitlement without a name or a grant is refused`() throws {
        for (text, words) in [
            (#"{"entitlements":{"pro plan":{"products":["a"]}}}"#, "'pro plan'"),
            (#"{"entitlements":{"":{"products":["a"]}}}"#, "the name ''"),
            (#"{"entitlements":{"pro":{}}}"#, "entitlements.pro has no product and no group"),
            (#"{"entitlements":{"pro":{"product":["a"]}}}"#, "no product and no group"),
            (#"{"entitlements":{"pro":{"groups":[""]}}}"#, "an empty identifier"),
            (#"{"entitlements":{"pro":["a"]}}"#, "entitlements.pro"),
        ] {
            let error = #expect(throws: CatalogError.self) { try Self.read(text) }
            #expect(error?.code == .malformed && error?.message.contains(words) == true, "\(text)")
        }
    }

    @Test func `a difference names the entitlements that differ`() throws {
        func version(_ grants: [String: EntitlementGrants]) -> ProductCatalog {
            ProductCatalog(
                version: 1,
                effectiveFrom: .epoch,
                subscriptions: [],
                entitlements: grants
            )
        }
        let difference = CatalogDifference(
            from: version(["a": EntitlementGrants(products: ["x"]), "same": .init(groups: ["1"])]),
            to: version(["b": EntitlementGrants(groups: ["2"]), "same": .init(groups: ["1"])])
        )
        #expect(!difference.isEmpty && difference.entitlements.map(\.name) == ["a", "b"])
        #expect(difference.entitlements[0].old == "x" && difference.entitlements[0].new == nil)
        #expect(difference.entitlements[1].new == "group 2")
    }
}
