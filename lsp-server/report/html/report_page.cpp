#include "lsp-server/report/html/report_page.h"

#include "lsp-server/report/html/html_writer.h"
#include "lsp-server/report/html/report_style.h"
#include "lsp-server/report/html/roofline_svg.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string_view>

namespace kernelskill::lsp {
namespace {

std::string classOf(Tone tone) {
    switch (tone) {
    case Tone::Quiet:
        return "quiet";
    case Tone::Good:
        return "good";
    case Tone::Bad:
        return "bad";
    case Tone::Plain:
        break;
    }
    return "plain";
}

std::string classOf(const TableColumn& column) {
    return column.isNumber ? "number" : column.isCode ? "code" : "words";
}

class Page {
public:
    std::string write(const Report& report) {
        html_.open("html", {{"lang", "en"}}).open("head");
        html_.empty("meta", {{"charset", "utf-8"}});
        // Nothing is loaded and nothing runs, for any text.
        html_.empty("meta", {{"http-equiv", "Content-Security-Policy"},
                             {"content", "default-src 'none'; style-src 'unsafe-inline'"}});
        html_.empty("meta",
                    {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
        html_.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
        html_.element("title", report.title).style(reportStyle()).close();
        html_.open("body").open("main");
        html_.open("header").element("h1", report.title);
        if (!report.lead.empty())
            html_.element("p", {{"class", "lead"}}, report.lead);
        html_.close();
        for (const ReportBlock& block : report.blocks)
            write(block);
        for (const ReportSection& section : report.sections)
            write(section, 2);
        if (!report.footer.empty())
            html_.element("footer", report.footer);
        return html_.take();
    }

private:
    void write(const ReportSection& section, int level) {
        const std::string heading = fmt::format("h{}", std::min(level, 4));
        if (section.isFolded)
            html_.open("details").open("summary").element(heading, section.title).close();
        else
            html_.open("section").element(heading, section.title);
        for (const ReportBlock& block : section.blocks)
            write(block);
        for (const ReportSection& below : section.sections)
            write(below, level + 1);
        html_.close();
    }

    void write(const ReportBlock& block) {
        std::visit([this](const auto& content) { writeBlock(content); }, block);
    }

    void writeBlock(const Paragraph& paragraph) {
        html_.element("p", {{"class", classOf(paragraph.tone)}}, paragraph.text);
    }

    void writeBlock(const BulletList& list) {
        html_.open("ul");
        for (const std::string& item : list.items)
            html_.element("li", item);
        html_.close();
    }

    void writeBlock(const FactList& list) {
        html_.open("dl");
        for (const FactList::Fact& fact : list.facts) {
            html_.element("dt", fact.name).open("dd");
            html_.element("span", {{"class", "value"}}, fact.value);
            if (!fact.note.empty())
                html_.element("span", {{"class", "note"}}, fact.note);
            html_.close();
        }
        html_.close();
    }

    void writeTitles(const std::vector<TableColumn>& columns) {
        for (const TableColumn& column : columns) {
            html_.open("th", {{"class", classOf(column)}, {"scope", "col"}}).text(column.title);
            if (!column.note.empty())
                html_.element("span", {{"class", "note"}}, column.note);
            html_.close();
        }
    }

    void writeCells(const std::vector<TableColumn>& columns, const std::vector<TableCell>& cells) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const TableCell cell = i < cells.size() ? cells[i] : TableCell{};
            html_.open("td", {{"class", classOf(columns[i]) + " " + classOf(cell.tone)}});
            if (cell.share) {
                html_.open("span", {{"class", "gauge"}});
                html_.element("i",
                              {{"style", fmt::format("width:{:.1f}%",
                                                     100 * std::clamp(*cell.share, 0.0, 1.0))}},
                              "");
                html_.close();
            }
            html_.text(cell.text);
            if (!cell.note.empty())
                html_.element("span", {{"class", "name"}}, cell.note);
            html_.close();
        }
    }

    void writeBlock(const Table& table) {
        html_.open("div", {{"class", "scroll"}}).open("table").open("thead").open("tr");
        writeTitles(table.columns);
        html_.close().close().open("tbody");
        for (const std::vector<TableCell>& row : table.rows) {
            html_.open("tr");
            writeCells(table.columns, row);
            html_.close();
        }
        html_.close().close().close();
    }

    void writeBlock(const SourceTable& table) {
        html_.open("div", {{"class", "scroll"}});
        html_.open("table", {{"class", "source"}}).open("thead").open("tr");
        writeTitles(table.columns);
        html_.element("th", {{"class", "line"}, {"scope", "col"}}, "line");
        html_.element("th", {{"class", "code"}, {"scope", "col"}}, "source");
        html_.close().close().open("tbody");
        const std::string all = std::to_string(table.columns.size() + 2);
        std::uint32_t last = 0;
        for (const SourceTable::Row& row : table.rows) {
            if (last != 0 && row.number != last + 1)
                html_.open("tr", {{"class", "gap"}}).element("td", {{"colspan", all}}, "⋯").close();
            last = row.number;
            html_.open("tr");
            writeCells(table.columns, row.cells);
            html_.element("td", {{"class", "line"}}, std::to_string(row.number));
            html_.open("td", {{"class", "code"}}).element("span", {{"class", "text"}}, row.text);
            if (!row.remark.empty())
                html_.element("span", {{"class", "remark"}}, row.remark);
            html_.close().close();
        }
        html_.close().close().close();
    }

    void writeBlock(const RooflinePlot& plot) {
        html_.open("figure").open("div", {{"class", "scroll"}});
        drawRoofline(html_, plot);
        html_.close();
        if (!plot.caption.empty())
            html_.element("figcaption", plot.caption);
        html_.close();
    }

    void writeNodes(const std::vector<Tree::Node>& nodes) {
        if (nodes.empty())
            return;
        html_.open("ul");
        for (const Tree::Node& node : nodes) {
            html_.open("li").element("strong", node.title);
            if (!node.status.empty())
                html_.element("span", {{"class", "status " + classOf(node.tone)}}, node.status);
            for (const std::string& remark : node.remarks)
                html_.element("p", {{"class", "note"}}, remark);
            writeNodes(node.children);
            html_.close();
        }
        html_.close();
    }

    void writeBlock(const Tree& tree) {
        html_.open("div", {{"class", "tree"}});
        writeNodes(tree.roots);
        html_.close();
    }

    void writeBlock(const DiffText& diff) {
        html_.open("div", {{"class", "diff"}});
        std::string_view rest = diff.text;
        while (!rest.empty()) {
            const auto end = std::min(rest.find('\n'), rest.size());
            const std::string_view line = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            const bool isHeading = line.starts_with("+++") || line.starts_with("---");
            const char* kind = isHeading                ? "heading"
                               : line.starts_with('+')  ? "added"
                               : line.starts_with('-')  ? "removed"
                               : line.starts_with("@@") ? "place"
                                                        : "same";
            html_.element("span", {{"class", kind}}, line);
        }
        html_.close();
    }

    HtmlWriter html_;
};

} // namespace

std::string writeReport(const Report& report) {
    return Page().write(report);
}

} // namespace kernelskill::lsp
