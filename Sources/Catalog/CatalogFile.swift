import Foundation

/// Reads what an app sells from files that its developer already has.
public enum CatalogFile {
    /// Most bytes of a file: a thousand products with all their offers take a tenth of that.
    public static let byteCountMax = 16 << 20

    /// Reads a `.storekit` file of Xcode (formats 1 to 5), or a saved response of the App Store
    /// Connect API, including several in one JSON array (Apple's data: StoreKit configuration, App
    /// Store Connect responses).
    ///
    /// Also reads what grants entitlements: an object with `entitlements`, by name, each with
    /// `products`, `groups` or both. An Xcode file may have that member, too.
    ///
    /// - Throws: `notACatalog`, `malformed`, `duplicateProduct`, `tooLarge`.
    public static func read(_ bytes: [UInt8]) throws(CatalogError) -> CatalogContent {
        guard bytes.count <= byteCountMax else {
            throw CatalogError(
                .tooLarge,
                "it has \(bytes.count) bytes; a catalog has at most \(byteCountMax)"
            )
        }
        let data = Data(bytes)
        guard let shape = shape(of: data) else {
            throw CatalogError(
                .notACatalog,
                "it is not a catalog; expected a .storekit file of Xcode (an object with "
                    + "subscriptionGroups or products), a saved response of the App Store "
                    + "Connect API (an object with data, of subscriptionGroups or "
                    + "subscriptions), or entitlements ({\"entitlements\": {\"pro\": "
                    + "{\"products\": […], \"groups\": […]}}})"
            )
        }

        var builder = CatalogBuilder()
        switch shape {
        case .storekit:
            let file = try decode(StoreKitConfiguration.self, from: data)
            try file.add(to: &builder)
            var content = builder.content(format: file.formatName)
            content.entitlements = try decode(EntitlementsFile.self, from: data).checked()
            return content
        case .entitlements:
            let file = try decode(EntitlementsFile.self, from: data)
            return CatalogContent(entitlements: try file.checked() ?? [:])
        case .response:
            let response = try decode(AppStoreConnectResponse.self, from: data)
            try AppStoreConnectReader([response]).add(to: &builder)
        case .responses:
            let responses = try decode([AppStoreConnectResponse].self, from: data)
            try AppStoreConnectReader(responses).add(to: &builder)
        }
        return builder.content(format: "app-store-connect")
    }

    private enum Shape {
        case storekit
        case entitlements
        case response
        case responses
    }

    /// The names of the document's members, which show its format, because neither format has a
    /// name.
    private struct Members: Decodable {
        let names: Set<String>

        init(from decoder: any Decoder) throws {
            names = Set(try decoder.container(keyedBy: AnyName.self).allKeys.map(\.stringValue))
        }
    }

    private struct AnyName: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    private static func shape(of data: Data) -> Shape? {
        // Whatever the error is, the file has neither format.
        func members<Value: Decodable>(_ type: Value.Type) -> Value? {
            do {
                return try JSONDecoder().decode(type, from: data)
            } catch {
                return nil
            }
        }
        if let names = members(Members.self)?.names {
            let storekit: Set = ["subscriptionGroups", "products", "nonRenewingSubscriptions"]
            if names.contains("data") { return .response }
            if !names.isDisjoint(with: storekit) { return .storekit }
            return names.contains("entitlements") ? .entitlements : nil
        }
        guard let list = members([Members].self), !list.isEmpty,
            list.allSatisfy({ $0.names.contains("data") })
        else { return nil }
        return .responses
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data
    ) throws(CatalogError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            throw CatalogError(.malformed, explanation(of: error))
        }
    }

    /// Where the error is and what was expected; never a value of the file.
    private static func explanation(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it cannot be read as JSON" }
        switch error {
        case .keyNotFound(let key, let context):
            return "\(path(context.codingPath + [key])) is missing; write it, or export the "
                + "file again"
        case .valueNotFound(_, let context):
            return "\(path(context.codingPath)) is null; a value is expected"
        case .typeMismatch(let type, let context):
            return "\(path(context.codingPath)) has another type than expected: \(type)"
        case .dataCorrupted(let context):
            return "\(path(context.codingPath)) cannot be read: \(context.debugDescription)"
        @unknown default:
            return "it cannot be read as a catalog"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        guard !keys.isEmpty else { return "the document" }
        return keys.reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
    }
}
