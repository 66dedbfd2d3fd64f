/// A scale that contains zero, in steps of 1, 2 or 5 times a power of ten.
struct ReportScale {
    /// Its ends, and the distance of its lines.
    let bottom, top, step: Double
    private let kind: Report.Column.Kind

    // A longer step leaves lines out, a shorter one makes their numbers touch.
    private static let stepsMax = 5.0

    /// The scale of numbers of a kind; all from 0 to 100 percent if it shows whole shares.
    init(_ values: [Int64], of kind: Report.Column.Kind, isWhole: Bool) {
        self.kind = kind
        let whole: Int64 = kind == .percent && isWhole ? 10_000 : 0
        let low = Double(min(values.min() ?? 0, 0))
        let high = Double(max(values.max() ?? 0, whole))
        // One, one unit of a currency, or a tenth of a percent.
        var step: Double = kind == .money ? 1_000 : kind == .percent ? 10 : 1
        var index = 0
        while step < (high - low) / ReportScale.stepsMax {
            step *= index % 3 == 1 ? 2.5 : 2
            index += 1
        }
        self.step = step
        bottom = (low / step).rounded(.down) * step
        top = max((high / step).rounded(.up) * step, bottom + step)
    }

    /// Where a number is, from 0 at the bottom to 1 at the top.
    func part(_ value: Double) -> Double { (value - bottom) / (top - bottom) }

    /// The values of its lines.
    var ticks: [Double] { Array(stride(from: bottom, through: top + step / 2, by: step)) }

    /// The number at a line, money in whole units.
    func words(_ tick: Double) -> String {
        guard let number = Int64(exactly: tick) else { return "" }
        switch kind {
        case .money: return "\(number / 1_000)".grouped
        case .percent:
            let digits = number % 100 == 0 ? "\(number / 100)" : number.decimals
            return digits + " %"
        default: return "\(number)".grouped
        }
    }

    /// A number in few characters, for a cell: `81` percent, `12k`, `1.5M`.
    func short(_ value: Int64) -> String {
        var number = Double(value) / (kind == .money ? 1_000 : kind == .percent ? 100 : 1)
        var units = ["", "k", "M", "B", "T"][...]
        while abs(number) >= 999.5, units.count > 1 {
            number /= 1_000
            units.removeFirst()
        }
        let isWhole = units.first == "" || abs(number) >= 9.95
        guard !isWhole else { return "\(Int64(number.rounded()))\(units.first ?? "")" }
        let tenths = Int64((abs(number) * 10).rounded())
        return "\(number < 0 ? "-" : "")\(tenths / 10).\(tenths % 10)\(units.first ?? "")"
    }
}
