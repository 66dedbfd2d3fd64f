import Catalog
import Projections
import Testing

/// Files that are not catalogs, and the messages that refuse them.
@Suite struct RefusalTests {
    @Test(arguments: [
        "", " ", "not JSON", "[]", "{}", "null", "7", "\"text\"", "{\"version\":{\"major\":4}}",
        "[{}]", "[{\"subscriptionGroups\":[]}]", "{\"signedPayload\":\"e30.e30.e30\"}",
        "{\"subscriptionGroups\":[", "\u{0}", "{\"data\":[{\"type\":\"apps\",\"id\":\"1\"}]}",
    ])
    func `a file that is not a catalog is refused with what was expected`(text: String) throws {
        let error = try #require(refusal(of: text))
        #expect(error.code == .notACatalog)
        #expect(error.message.contains("expected"))
    }

    @Test(arguments: [
        (
            "\"groupNumber\":1,\"recurringSubscriptionPeriod\":\"P1M\"",
            "subscriptionGroups[0].subscriptions[0].productID is missing"
        ),
        (
            "\"productID\":\"a\",\"recurringSubscriptionPeriod\":\"P1M\"",
            "subscriptionGroups[0].subscriptions[0].groupNumber is missing"
        ),
        (
            "\"productID\":\"a\",\"groupNumber\":1",
            "subscriptionGroups[0].subscriptions[0].recurringSubscriptionPeriod is missing"
        ),
        (
            "\"productID\":\"a\",\"groupNumber\":\"one\",\"recurringSubscriptionPeriod\":\"P1M\"",
            "subscriptionGroups[0].subscriptions[0].groupNumber has another type"
        ),
        (
            "\"productID\":\"a\",\"groupNumber\":0,\"recurringSubscriptionPeriod\":\"P1M\"",
            "groupNumber of a is 0; a level from 1"
        ),
        (
            "\"productID\":\"a\",\"groupNumber\":1,\"recurringSubscriptionPeriod\":\"month\"",
            "recurringSubscriptionPeriod of a is not a period; expected P1W"
        ),
    ])
    func `a missing member is reported with its place`(members: String, words: String) throws {
        let error = try #require(refusal(of: Fixtures.subscription(members)))
        #expect(error.code == .malformed)
        #expect(error.message.contains(words), "\(error.message)")
    }

    @Test func `two products with one identifier are refused, with both places`() throws {
        let twice = "\(Fixtures.needed)},{\(Fixtures.needed)"
        let inGroup = try #require(refusal(of: Fixtures.subscription(twice)))
        #expect(inGroup.code == .duplicateProduct)
        #expect(inGroup.message.contains("subscriptions[0] and subscriptionGroups[0]"))
        let text =
            Fixtures.subscription(Fixtures.needed).dropLast()
            + ",\"products\":[{\"productID\":\"a\"}]}"
        let across = try #require(refusal(of: String(text)))
        #expect(across.code == .duplicateProduct)
        #expect(across.message.contains("products[0]"), "\(across.message)")
        let response = Fixtures.groups.replacing("app.plus", with: "app.pro")
        #expect(refusal(of: response)?.code == .duplicateProduct)
    }

    @Test func `identifiers are distinguished by their bytes`() throws {
        let text =
            "\"productID\":\"e\u{301}\",\"groupNumber\":1,"
            + "\"recurringSubscriptionPeriod\":\"P1M\"},{\"productID\":\"é\",\"groupNumber\":2,"
            + "\"recurringSubscriptionPeriod\":\"P1M\""
        let catalog = try read(Fixtures.subscription(text)).catalog
        #expect(catalog.subscription("é")?.level == 2)
        #expect(catalog.subscription("e\u{301}")?.level == 1)
    }

    @Test func `a file larger than any catalog is refused`() throws {
        let bytes = [UInt8](repeating: 0x20, count: CatalogFile.byteCountMax + 1)
        let error = #expect(throws: CatalogError.self) { try CatalogFile.read(bytes) }
        #expect(error?.code == .tooLarge)
    }

    private func refusal(of text: String) -> CatalogError? {
        do throws(CatalogError) {
            _ = try CatalogFile.read(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }
}
