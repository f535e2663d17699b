/// Builds HTML, and SVG within it. The one place that escapes: what goes in as text or as an
/// attribute's value comes out as that text, whatever it holds.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::lsp {

/// `text` as character data or between double quotes. Bytes that are no UTF-8, and control
/// characters that HTML forbids, become U+FFFD.
[[nodiscard]] std::string escapedHtml(std::string_view text);

class HtmlWriter {
public:
    /// Names are ours; values may come from anywhere.
    struct Attribute {
        std::string_view name;
        std::string value;
    };
    using Attributes = std::initializer_list<Attribute>;

    /// Starts with the document's type.
    HtmlWriter();

    HtmlWriter& open(std::string_view tag, Attributes attributes = {});
    HtmlWriter& close(); ///< The innermost that is open.
    HtmlWriter& text(std::string_view text);
    HtmlWriter& element(std::string_view tag, Attributes attributes, std::string_view text);
    HtmlWriter& element(std::string_view tag, std::string_view text);
    /// One that never holds anything: `<meta>`, `<circle>`.
    HtmlWriter& empty(std::string_view tag, Attributes attributes);
    /// `css` is ours and goes in as it is.
    HtmlWriter& style(std::string_view css);

    /// Closes what is open.
    [[nodiscard]] std::string take();

private:
    void start(std::string_view tag, Attributes attributes);

    std::string html_;
    std::vector<std::string> opened_;
};

} // namespace kernelskill::lsp
