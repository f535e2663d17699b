#include "lsp-server/report/html/html_writer.h"
#include "lsp-server/report/html/log_axis.h"
#include "lsp-server/report/html/report_page.h"
#include "lsp-server/report/html/roofline_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

namespace kernelskill::lsp {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* hostile = "</script><script>alert(\"1\" & '2')</script>";
constexpr const char* harmless =
    "&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;";

std::size_t countOf(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

/// Every text that a report can hold is the hostile one.
Report hostileReport() {
    Report report;
    report.title = report.lead = report.footer = hostile;
    SourceTable source;
    source.columns = {{hostile, true, false, hostile}};
    source.rows = {{7, hostile, {{hostile, 0.5}}, hostile}};
    RooflinePlot plot;
    plot.gpu = plot.caption = hostile;
    plot.ceilings = {{hostile, 1e12, true, hostile}, {hostile, 1e13, false, hostile}};
    plot.points = {{hostile, {1, 1}, {1e11, 1e11}}};
    report.blocks = {Paragraph{hostile}, BulletList{{hostile}},
                     FactList{{{hostile, hostile, hostile}}}};
    report.sections = {
        {hostile,
         {Table{{{hostile, false, false, hostile}}, {{{hostile}}}}, source, plot,
          Tree{{{hostile, hostile, Tone::Good, {hostile}, {{hostile, "", {}, {}, {}}}}}},
          DiffText{std::string("+") + hostile}},
         {}}};
    return report;
}

TEST(Html, TextAndAttributesAreEscaped) {
    EXPECT_EQ(escapedHtml(hostile), harmless);
    HtmlWriter page;
    page.element("p", {{"title", hostile}}, hostile);
    EXPECT_THAT(page.take(), HasSubstr(std::string("<p title=\"") + harmless + "\">" + harmless));
}

TEST(Html, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(escapedHtml(std::string_view("a\0b\x1b", 4)), "a\xef\xbf\xbd"
                                                            "b\xef\xbf\xbd");
    EXPECT_EQ(escapedHtml("\xff"), "\xef\xbf\xbd");
    EXPECT_EQ(escapedHtml("µ\t\n"), "µ\t\n");
}

TEST(ReportPage, NoTextBecomesMarkup) {
    const std::string page = writeReport(hostileReport());
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("</script")));
    EXPECT_THAT(page, Not(HasSubstr("alert(\"")));
    EXPECT_GT(countOf(page, harmless), 20u);
}

TEST(ReportPage, NeedsNothingElse) {
    const std::string page = writeReport(hostileReport());
    for (const char* outside : {"http://", "https://", "url(", "@import", "src=", "href="})
        EXPECT_THAT(page, Not(HasSubstr(outside)));
    EXPECT_THAT(page, HasSubstr("default-src &#39;none&#39;"));
    EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
}

TEST(ReportPage, EveryElementIsClosed) {
    const std::string page = writeReport(hostileReport());
    const std::regex tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
    std::vector<std::string> open;
    const auto body = page.substr(page.find("<html"));
    for (std::sregex_iterator at(body.begin(), body.end(), tag), end; at != end; ++at) {
        if ((*at)[3].length() != 0)
            continue;
        if ((*at)[1].length() == 0) {
            open.push_back((*at)[2]);
            continue;
        }
        ASSERT_FALSE(open.empty());
        EXPECT_EQ(open.back(), (*at)[2]);
        open.pop_back();
    }
    EXPECT_TRUE(open.empty());
}

TEST(ReportPage, AGapBetweenLinesIsShown) {
    Report report;
    SourceTable source;
    source.rows = {{3, "a", {}, ""}, {4, "b", {}, ""}, {9, "c", {}, ""}};
    report.blocks = {source};
    EXPECT_EQ(countOf(writeReport(report), "class=\"gap\""), 1u);
}

TEST(LogAxisTest, PlacesDecadesEvenly) {
    const LogAxis axis(0.02, 30, 100, 500);
    EXPECT_DOUBLE_EQ(axis.least(), 0.01);
    EXPECT_DOUBLE_EQ(axis.most(), 100);
    EXPECT_DOUBLE_EQ(axis.place(0.01), 100);
    EXPECT_DOUBLE_EQ(axis.place(1), 300);
    EXPECT_DOUBLE_EQ(axis.place(100), 500);
}

TEST(LogAxisTest, LeavesRoomAtTheEnds) {
    const LogAxis axis(1, 10, 0, 100);
    EXPECT_LT(axis.least(), 1);
    EXPECT_GT(axis.most(), 10);
}

TEST(LogAxisTest, NamesPowersOfTen) {
    EXPECT_EQ(decadeText(0.01), "0.01");
    EXPECT_EQ(decadeText(100), "100");
    EXPECT_EQ(decadeText(1000), "1 k");
    EXPECT_EQ(decadeText(100'000), "100 k");
}

double attribute(const std::string& element, const std::string& name) {
    const std::regex value(" " + name + "=\"([-0-9.]+)\"");
    std::smatch found;
    return std::regex_search(element, found, value) ? std::stod(found[1]) : -1;
}

std::vector<std::string> elements(const std::string& page, const std::string& start) {
    std::vector<std::string> found;
    for (auto at = page.find(start); at != std::string::npos; at = page.find(start, at + 1))
        found.push_back(page.substr(at, page.find('>', at) - at));
    return found;
}

RooflinePlot plot() {
    RooflinePlot plot;
    plot.gpu = "NVIDIA H200";
    plot.ceilings = {{"DRAM", 4e12, true, "measured"}, {"FP32", 4e13, false, "measured"}};
    return plot;
}

TEST(RooflineSvg, AKernelAtTheCeilingLiesOnItsLine) {
    RooflinePlot drawn = plot();
    drawn.points = {{"saxpy", {0.5, 0.5}, {2e12, 2e12}}};
    HtmlWriter page;
    drawRoofline(page, drawn);
    const std::string svg = page.take();
    const auto circle = elements(svg, "<circle");
    const auto ceilings = elements(svg, "<line class=\"ceiling\"");
    ASSERT_EQ(circle.size(), 1u);
    ASSERT_EQ(ceilings.size(), 2u);
    const double x1 = attribute(ceilings[0], "x1");
    const double y1 = attribute(ceilings[0], "y1");
    const double x2 = attribute(ceilings[0], "x2");
    const double y2 = attribute(ceilings[0], "y2");
    const double part = (attribute(circle[0], "cx") - x1) / (x2 - x1);
    EXPECT_THAT(attribute(circle[0], "cy"), DoubleNear(y1 + part * (y2 - y1), 0.3));
    // The slope ends where the roof begins.
    EXPECT_THAT(attribute(ceilings[1], "x1"), DoubleNear(x2, 0.2));
    EXPECT_THAT(attribute(ceilings[1], "y1"), DoubleNear(y2, 0.2));
}

TEST(RooflineSvg, AnIntervalIsABarThatIsCalledAModel) {
    RooflinePlot drawn = plot();
    drawn.points = {{"saxpy", {0.1, 0.5}, {1e11, 2e12}, true}};
    HtmlWriter page;
    drawRoofline(page, drawn);
    const std::string svg = page.take();
    EXPECT_THAT(svg, HasSubstr("saxpy (model)"));
    EXPECT_TRUE(elements(svg, "<circle").empty());
    EXPECT_EQ(elements(svg, "<line class=\"bar\"").size(), 1u);
}

TEST(RooflineSvg, AnArrowLeadsFromBeforeToAfter) {
    RooflinePlot drawn = plot();
    drawn.points = {{"before", {0.5, 0.5}, {1e11, 1e11}, false, Tone::Quiet},
                    {"after", {0.5, 0.5}, {1.5e12, 1.5e12}, false, Tone::Good, 0}};
    HtmlWriter page;
    drawRoofline(page, drawn);
    EXPECT_EQ(elements(page.take(), "<line class=\"arrow\"").size(), 3u);
}

TEST(RooflineSvg, DrawsNothingThatHasNoPlace) {
    RooflinePlot without = plot();
    without.ceilings.pop_back();
    RooflinePlot zero = plot();
    zero.points = {{"copy", {0, 0}, {0, 0}}};
    for (const RooflinePlot& drawn : {without, zero}) {
        HtmlWriter page;
        drawRoofline(page, drawn);
        EXPECT_THAT(page.take(), Not(HasSubstr("<svg")));
    }
}

TEST(RooflineSvg, NamesAxesAndCeilingsWithTheirUnits) {
    HtmlWriter page;
    drawRoofline(page, plot());
    const std::string svg = page.take();
    EXPECT_THAT(svg, HasSubstr("DRAM 4 TB/s, measured"));
    EXPECT_THAT(svg, HasSubstr("FP32 40 TFLOP/s, measured"));
    EXPECT_THAT(svg, HasSubstr("FLOP per byte"));
    EXPECT_THAT(svg, HasSubstr("GFLOP/s"));
}

} // namespace
} // namespace kernelskill::lsp
