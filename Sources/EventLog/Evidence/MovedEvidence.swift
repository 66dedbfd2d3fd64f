internal import Events
internal import Postgres

/// What is needed to restore payloads, besides their rows.
struct EvidenceSources: Sendable {
    /// The dictionaries that payloads are deflated with.
    let dictionaries: EvidenceDictionaries
    let ledgerId: [UInt8]
    /// The folder of the files of moved payloads; nil for where each was written.
    let folder: String?

    /// The files of a lane, by the numbers of their payloads.
    func files(_ rows: PostgresRows, lane: Int) throws -> [EvidenceFile.Place] {
        try rows.map { row in
            let written = try row.text(2)
            let name = written.split(separator: "/").last.map(String.init) ?? written
            return EvidenceFile.Place(
                ledgerId: ledgerId,
                lane: lane,
                first: try row.int8(0),
                last: try row.int8(1),
                path: folder.map { "\($0)/\(name)" } ?? written
            )
        }
    }

    /// The files of lane `$1`.
    static let filesSQL = """
        SELECT first_evidence_no, last_evidence_no, path FROM ledger.evidence_file
        WHERE lane = $1 ORDER BY first_evidence_no
        """

    /// Throws `evidenceFile` unless each of these payloads that was moved can be overwritten.
    func requireErasable(
        _ numbers: Set<Int64>,
        lane: Int,
        in session: isolated PostgresSession
    ) throws {
        let rows = try session.query(EvidenceSources.filesSQL, [.int4(Int32(lane))])
        for place in try files(rows, lane: lane) where numbers.contains(where: place.contains) {
            _ = try EvidenceFile(place, forErasing: true)
        }
    }
}

/// The moved payloads of a lane: which file has which, and the file that was read last.
struct MovedEvidence {
    /// What the files have of a payload.
    enum Found {
        case body([UInt8])
        /// Nothing, or zeros.
        case nothing
        /// No file has that number.
        case notMoved
    }

    private let lane: Int
    private let sources: EvidenceSources
    private let session: PostgresSession
    private var places: [EvidenceFile.Place]?
    private var file: EvidenceFile?

    init(lane: Int, _ sources: EvidenceSources, session: PostgresSession) {
        self.lane = lane
        self.sources = sources
        self.session = session
    }

    /// Reads a payload.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - isMoved: Whether a file must have it: perhaps one that was written since the last call.
    /// - Returns: Its packed bytes, if its file has them.
    /// - Throws: `evidenceFile` if its file cannot be read.
    mutating func find(_ number: Int64, isMoved: Bool) async throws -> Found {
        if isMoved, number > places?.last?.last ?? 0 { places = nil }
        guard let place = try await place(of: number) else { return .notMoved }
        if file?.place.first != place.first { file = try EvidenceFile(place) }
        return try file?.body(of: number).map(Found.body) ?? .nothing
    }

    private mutating func place(of number: Int64) async throws -> EvidenceFile.Place? {
        if let place = file?.place, place.contains(number) { return place }
        if places == nil {
            let rows = try await session.query(EvidenceSources.filesSQL, [.int4(Int32(lane))])
            places = try sources.files(rows, lane: lane)
        }
        // The files of a lane follow each other.
        guard let places, let end = places.last?.last, number <= end else { return nil }
        var (low, high) = (0, places.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if places[middle].last < number { low = middle + 1 } else { high = middle }
        }
        return places[low].contains(number) ? places[low] : nil
    }
}
