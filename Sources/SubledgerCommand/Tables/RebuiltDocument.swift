import Events
import Projector
import Subledger

/// The JSON of a table that `rebuild` made.
struct RebuiltDocument: Encodable {
    let name: String
    let version: Int
    let schema: String
    let rows: Int
    let events: Int
    let streams: Int
    let refused: Int
    let digest: String
    let positions: [String: Int64]

    init(_ rebuilt: Projector.Rebuilt) {
        name = rebuilt.name
        version = rebuilt.version
        schema = rebuilt.schema
        rows = rebuilt.rows
        events = rebuilt.events
        streams = rebuilt.streams
        refused = rebuilt.refused
        digest = rebuilt.digest.hex
        positions = PositionVector(rebuilt.positions).document
    }
}

/// The JSON of `tables promote`.
struct PromotionDocument: Encodable {
    let promoted: [Table]
    let lockMilliseconds: Double

    struct Table: Encodable {
        let name: String
        let version: Int
        let schema: String
        let rows: Int
        let digest: String
        let positions: [String: Int64]
    }

    init(_ promotion: Projector.Promotion) {
        promoted = promotion.tables.map(RebuiltDocument.init).map {
            Table(
                name: $0.name,
                version: $0.version,
                schema: $0.schema,
                rows: $0.rows,
                digest: $0.digest,
                positions: $0.positions
            )
        }
        lockMilliseconds = promotion.lockMilliseconds
    }
}
