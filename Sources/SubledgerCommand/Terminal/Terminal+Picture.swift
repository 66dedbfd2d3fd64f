import CommandSupport
import Foundation
import Projections
import Subledger

extension Terminal {
    /// The characters for pictures: letters if requested, if the locale is not UTF-8, or if stdout
    /// is not a terminal.
    static func pictureStyle(isASCII: Bool) -> TimelinePicture.Style {
        let environment = ProcessEnvironment.variables
        let locale =
            ["LC_ALL", "LC_CTYPE", "LANG"].compactMap { environment[$0] }
            .first { !$0.isEmpty } ?? ""
        let isUTF8 = locale.uppercased().replacing("-", with: "").contains("UTF8")
        return isASCII || !isUTF8 || !StandardStream.isTerminal(1) ? .ascii : .unicode
    }

    /// The number of columns of stdout; the default of pictures if it is not a terminal.
    static var width: Int { size.columns ?? TimelinePicture.defaultWidth }
}
