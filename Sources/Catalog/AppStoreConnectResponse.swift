/// A saved response of the App Store Connect API, in the shape of JSON:API
/// (Apple's data: App Store Connect responses).
struct AppStoreConnectResponse: Decodable {
    let data: OneOrMore
    let included: [Resource]?
    let links: Links?

    struct Links: Decodable {
        let own: String?
        let next: String?

        enum CodingKeys: String, CodingKey {
            case own = "self"
            case next
        }
    }

    /// A list of resources, or the single one that was requested.
    struct OneOrMore: Decodable {
        let resources: [Resource]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                resources = try container.decode([Resource].self)
            } catch DecodingError.typeMismatch(_, let context)
                where context.codingPath.count == decoder.codingPath.count
            {
                resources = [try container.decode(Resource.self)]
            }
        }
    }

    /// One resource, with the attributes that any of the types we read has.
    struct Resource: Decodable {
        let type: String
        let id: String
        let attributes: Attributes?
        let relationships: Relationships?
    }

    struct Attributes: Decodable {
        let referenceName: String?
        let name: String?
        let productId: String?
        let familySharable: Bool?
        let state: String?
        let subscriptionPeriod: String?
        let groupLevel: Int?
        let inAppPurchaseType: String?
        let duration: String?
        let offerMode: String?
        let numberOfPeriods: Int?
        let periodCount: Int?
        let offerCode: String?
        let offerId: String?
    }

    struct Relationships: Decodable {
        let group: Relationship?
        let subscriptions: Relationship?
        let introductoryOffers: Relationship?
        let promotionalOffers: Relationship?
        let offerCodes: Relationship?
        let winBackOffers: Relationship?
    }

    /// The resources referred to; `data` is an object, a list, or absent if none was requested.
    struct Relationship: Decodable {
        let identifiers: [Identifier]
        /// The total number; nil if the response does not state it.
        let total: Int?

        struct Identifier: Decodable, Hashable {
            let type: String
            let id: String
        }

        private struct Meta: Decodable {
            let paging: Paging?

            struct Paging: Decodable {
                let total: Int?
            }
        }

        enum CodingKeys: CodingKey {
            case data, meta
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            total = try container.decodeIfPresent(Meta.self, forKey: .meta)?.paging?.total
            do {
                identifiers =
                    try container.decodeIfPresent([Identifier].self, forKey: .data) ?? []
            } catch DecodingError.typeMismatch {
                identifiers = [try container.decode(Identifier.self, forKey: .data)]
            }
        }
    }
}
