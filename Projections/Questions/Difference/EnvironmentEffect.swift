public import Events

/// The effect of a difference on access and money in one environment.
public struct EnvironmentEffect: Sendable {
    /// The environment.
    public let environment: StoreEnvironment
    /// The number of its subscriptions that differ.
    public private(set) var streamsChanged = 0
    /// How long they have access on one side only.
    public private(set) var access = AccessTotals()

    // By the tables' ranks, then by currency; entries without a change are left out.
    private var allMoney: [MoneyTotals] = []

    /// How much more and less money there is, by currency; currencies without a change are left
    /// out.
    ///
    /// In one table only, so no amount counts twice: the journal if it differs in money, otherwise
    /// the first table that does.
    public var money: [MoneyTotals] { allMoney.filter { $0.rank == allMoney.first?.rank } }

    /// The same for the other tables, by table; they may contain that money again, and must never
    /// be added to `money` nor to each other.
    public var otherMoney: [MoneyTotals] {
        allMoney.filter { $0.rank != allMoney.first?.rank }
    }

    init(_ environment: StoreEnvironment) {
        self.environment = environment
    }

    func isBefore(_ other: EnvironmentEffect) -> Bool {
        let (isReal, isOtherReal) =
            (environment == .production, other.environment == .production)
        if isReal != isOtherReal { return isReal }
        return byBytes(environment.word, other.environment.word) ?? false
    }

    mutating func add(_ comparison: StreamComparison) {
        streamsChanged += 1
        access.add(comparison.access)
        for amount in comparison.allMoney { add(MoneyTotals(amount)) }
    }

    mutating func add(_ other: EnvironmentEffect) {
        streamsChanged += other.streamsChanged
        access.add(other.access)
        for total in other.allMoney { add(total) }
    }

    private mutating func add(_ total: MoneyTotals) {
        let index = allMoney.firstIndex { !$0.isBefore(total) } ?? allMoney.endIndex
        if index == allMoney.endIndex || total.isBefore(allMoney[index]) {
            allMoney.insert(total, at: index)
        } else {
            allMoney[index].gained = allMoney[index].gained.addingUpToMax(total.gained)
            allMoney[index].lost = allMoney[index].lost.addingUpToMax(total.lost)
        }
    }
}

extension EnvironmentEffect: Encodable {
    private enum CodingKeys: CodingKey {
        case environment, streamsChanged, access, money, otherMoney
    }

    /// Encodes all its properties.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(environment, forKey: .environment)
        try members.encode(streamsChanged, forKey: .streamsChanged)
        try members.encode(access, forKey: .access)
        try members.encode(money, forKey: .money)
        try members.encode(otherMoney, forKey: .otherMoney)
    }
}

/// How long subscriptions have access on one side only, in milliseconds, exact; each up to
/// `AccessSpan.endMax` at most.
public struct AccessTotals: Hashable, Sendable {
    /// On the new side only.
    public private(set) var gained: Int64 = 0
    /// On the old side only.
    public private(set) var lost: Int64 = 0

    fileprivate mutating func add(_ difference: AccessDifference) {
        gained = gained.addingUpToMax(difference.gained.length)
        lost = lost.addingUpToMax(difference.lost.length)
    }

    fileprivate mutating func add(_ other: AccessTotals) {
        gained = gained.addingUpToMax(other.gained)
        lost = lost.addingUpToMax(other.lost)
    }
}

extension AccessTotals: Encodable {
    private enum CodingKeys: CodingKey { case gainedMs, lostMs, gainedHours, lostHours }

    /// Encodes the milliseconds, and the hours rounded to a thousandth.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(gained, forKey: .gainedMs)
        try members.encode(lost, forKey: .lostMs)
        try members.encode(Double(gained / 3600) / 1000, forKey: .gainedHours)
        try members.encode(Double(lost / 3600) / 1000, forKey: .lostHours)
    }
}

/// How much more and less money there is in one table and currency, in milliunits.
///
/// Gains and losses of one subscription are offset first: a charge that moves to another date
/// changes nothing.
public struct MoneyTotals: Encodable, Hashable, Sendable {
    /// The table with the money.
    public let projection: String
    /// ISO 4217 code; nil if no row stated it.
    public let currency: String?
    /// Summed over the subscriptions that have more on the new side.
    public internal(set) var gained: Int64
    /// Summed over the subscriptions that have less on the new side, not negative.
    public internal(set) var lost: Int64

    // The table's place among those with money.
    fileprivate let rank: Int

    private enum CodingKeys: String, CodingKey {
        case projection, currency
        case gained = "gainedMilliunits"
        case lost = "lostMilliunits"
    }
}

extension MoneyTotals {
    fileprivate func isBefore(_ other: MoneyTotals) -> Bool {
        rank == other.rank ? areInOrder(currency, other.currency) : rank < other.rank
    }

    fileprivate init(_ amount: StreamDifference.Money) {
        self.init(
            projection: amount.projection,
            currency: amount.currency,
            gained: max(0, amount.milliunits),
            // The least integer has no positive counterpart.
            lost: amount.milliunits < 0 ? Int64(clamping: amount.milliunits.magnitude) : 0,
            rank: amount.rank
        )
    }
}
