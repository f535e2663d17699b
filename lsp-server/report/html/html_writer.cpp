#include "lsp-server/report/html/html_writer.h"

#include "lsp-server/transport/utf8.h"

#include <utility>

namespace kernelskill::lsp {

std::string escapedHtml(std::string_view text) {
    std::string escaped;
    for (const char character : replaceInvalidUtf8(text)) {
        switch (character) {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        case '\'':
            escaped += "&#39;";
            break;
        default: {
            const auto code = static_cast<unsigned char>(character);
            const bool isForbidden =
                (code < 0x20 && code != '\t' && code != '\n' && code != '\r') || code == 0x7f;
            escaped += isForbidden ? "\xef\xbf\xbd" : std::string(1, character);
        }
        }
    }
    return escaped;
}

HtmlWriter::HtmlWriter() : html_("<!DOCTYPE html>\n") {}

void HtmlWriter::start(std::string_view tag, Attributes attributes) {
    html_ += '<';
    html_ += tag;
    for (const auto& [name, value] : attributes) {
        html_ += ' ';
        html_ += name;
        html_ += "=\"" + escapedHtml(value) + '"';
    }
    html_ += '>';
}

HtmlWriter& HtmlWriter::open(std::string_view tag, Attributes attributes) {
    start(tag, attributes);
    opened_.emplace_back(tag);
    return *this;
}

HtmlWriter& HtmlWriter::close() {
    html_ += "</" + opened_.back() + ">\n";
    opened_.pop_back();
    return *this;
}

HtmlWriter& HtmlWriter::text(std::string_view text) {
    html_ += escapedHtml(text);
    return *this;
}

HtmlWriter& HtmlWriter::element(std::string_view tag, Attributes attributes,
                                std::string_view text) {
    return open(tag, attributes).text(text).close();
}

HtmlWriter& HtmlWriter::element(std::string_view tag, std::string_view text) {
    return element(tag, {}, text);
}

HtmlWriter& HtmlWriter::empty(std::string_view tag, Attributes attributes) {
    start(tag, attributes);
    // In SVG only the slash ends an element; HTML does not mind it.
    html_.insert(html_.size() - 1, "/");
    return *this;
}

HtmlWriter& HtmlWriter::style(std::string_view css) {
    html_ += "<style>\n";
    html_ += css;
    html_ += "</style>\n";
    return *this;
}

std::string HtmlWriter::take() {
    while (!opened_.empty())
        close();
    return std::move(html_);
}

} // namespace kernelskill::lsp
