/// A report as data: what a page says, in the order in which it says it, free of how it looks.
/// Texts are plain: writeReport() escapes them.
#pragma once

#include "engine/diagnosis/interval.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kernelskill::lsp {

enum class Tone : std::uint8_t { Plain, Quiet, Good, Bad };

struct Paragraph {
    std::string text;
    Tone tone = Tone::Plain;
};

struct BulletList {
    std::vector<std::string> items;
};

/// Names and their values: "grid", "128×64", "evaluated from line 40".
struct FactList {
    struct Fact {
        std::string name;
        std::string value;
        std::string note = {}; ///< Its source and meaning; may be empty.
    };
    std::vector<Fact> facts;
};

struct TableColumn {
    std::string title;
    bool isNumber = false; ///< Aligned at the right.
    bool isCode = false;
    std::string note = {}; ///< Under the title; may be empty.
};

struct TableCell {
    std::string text;
    std::optional<double> share = {}; ///< 0 to 1: drawn as a bar beside the text.
    Tone tone = Tone::Plain;
    std::string note = {}; ///< A name, small and below; may be empty.
};

struct Table {
    std::vector<TableColumn> columns;
    std::vector<std::vector<TableCell>> rows; ///< As many cells as columns, or fewer.
};

/// Lines of source with what was found out about each.
struct SourceTable {
    struct Row {
        std::uint32_t number = 0; ///< As a person counts: from 1.
        std::string text;
        std::vector<TableCell> cells; ///< As many as columns, or fewer.
        std::string remark;           ///< Below the line; may be empty.
    };
    std::vector<TableColumn> columns;
    std::vector<Row> rows; ///< Ascending; a gap in the numbers is shown as one.
};

struct RooflineCeiling {
    std::string name;      ///< "DRAM", "FP32"
    double perSecond = 0;  ///< Bytes, or floating-point operations.
    bool isMemory = false; ///< Bytes.
    std::string origin;    ///< "measured on this device", "datasheet"
};

/// A kernel under the roofline: a point where both intervals have one value each, else a bar.
struct RooflinePoint {
    std::string label;
    engine::Interval intensity; ///< Floating-point operations per byte of DRAM; above 0.
    engine::Interval perSecond; ///< Floating-point operations; above 0.
    bool isModel = false;       ///< From counts: nothing was timed.
    Tone tone = Tone::Plain;
    /// The index of the point that this one is a new version of: an arrow leads from there.
    std::optional<std::size_t> before = {};
};

struct RooflinePlot {
    std::string gpu;
    std::vector<RooflineCeiling> ceilings;
    std::vector<RooflinePoint> points;
    std::string caption; ///< Says what the reader should see; may be empty.
};

/// Things that follow from each other: rounds of a search with what each tried.
struct Tree {
    struct Node {
        std::string title;
        std::string status; ///< A word or a number at its right: "faster", "1.8×".
        Tone tone = Tone::Plain;
        std::vector<std::string> remarks;
        std::vector<Node> children;
    };
    std::vector<Node> roots;
};

/// A unified diff.
struct DiffText {
    std::string text;
};

using ReportBlock =
    std::variant<Paragraph, BulletList, FactList, Table, SourceTable, RooflinePlot, Tree, DiffText>;

struct ReportSection {
    std::string title;
    std::vector<ReportBlock> blocks = {};
    std::vector<ReportSection> sections = {}; ///< One level of headings below.
    bool isFolded = false;                    ///< The reader opens it.
};

struct Report {
    std::string title;
    std::string lead; ///< One or two sentences: the finding.
    std::vector<ReportBlock> blocks;
    std::vector<ReportSection> sections;
    std::string footer; ///< Program, version, date, command.
};

} // namespace kernelskill::lsp
