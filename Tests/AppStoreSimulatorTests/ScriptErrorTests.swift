import AppStoreSimulator
import Events
import Testing

/// Scripts that no App Store would allow are refused with the step and the reason.
@Suite struct ScriptErrorTests {
    private let monthly = ScriptedLife.monthly
    private let pro = ScriptedLife.proMonthly

    private func expect(
        _ code: ScriptError.Code,
        _ steps: [LifeStep],
        location: SourceLocation = #_sourceLocation
    ) throws {
        let beginning: [LifeStep] = try [.subscribe(monthly, offer: nil, at: at("2026-01-01"))]
        let error = #expect(throws: ScriptError.self, sourceLocation: location) {
            try ScriptedLife(beginning + steps)
        }
        #expect(error?.code == code, sourceLocation: location)
        #expect(error?.step == steps.count, sourceLocation: location)
        #expect(error?.description.isEmpty == false, sourceLocation: location)
    }

    @Test func `steps in the wrong place are refused`() throws {
        try expect(.tooSoon, [.restore(at: at("2026-01-01T00:00:30Z"))])
        try expect(.endIsMissing, [.restore(at: at("2026-02-02"))])
        try expect(.wrongTime, [.renew(at: at("2026-01-15"))])
        try expect(.wrongTime, [.expire(.other, at: at("2026-01-15"))])
        try expect(.wrongState, [.subscribe(monthly, offer: nil, at: at("2026-01-05"))])
        try expect(.wrongState, [.recover(at: at("2026-01-05"))])
        try expect(.wrongState, [.turnAutoRenewOn(at: at("2026-01-05"))])
        try expect(.wrongState, [.stopSharing(at: at("2026-01-05"))])
        try expect(.wrongState, [.expire(.voluntary, at: at("2026-02-01"))])
        try expect(.wrongState, [.reverseRefund(purchase: 0, at: at("2026-01-05"))])
        try expect(.noSuchPurchase, [.refund(purchase: 1, percentage: nil, at: at("2026-01-05"))])
        try expect(.wrongProduct, [.changeAtRenewal(to: pro, at: at("2026-01-05"))])
        try expect(
            .wrongProduct,
            [.changeNow(to: ScriptedLife.weekly, offer: nil, at: at("2026-01-05"))]
        )
        try expect(.implausibleInstant, [.restore(at: Instant(milliseconds: 1_767_700_000_001))])
    }

    @Test func `a refund that needs a running period cannot come before the period starts`()
        throws
    {
        try expect(
            .wrongTime,
            [
                .renew(at: at("2026-01-31T06:00Z")),
                .refund(purchase: 1, percentage: nil, at: at("2026-01-31T07:00Z")),
            ]
        )
        try expect(
            .wrongState,
            [
                .failToRenew(graceUntil: at("2026-02-10"), at: at("2026-02-01")),
                .refund(purchase: 0, percentage: nil, at: at("2026-02-05")),
            ]
        )
    }
}
