#include "lsp-server/commands/assembly_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace kernelskill::lsp {

namespace {

using engine::AlignedRow;
using engine::InstructionClass;
using engine::RowChange;

constexpr std::size_t contextRows = 3;
constexpr std::size_t maxOpcodes = 12;
constexpr std::size_t minColumn = 24;

/// Columns that a text takes, which holds no control characters.
std::size_t columnsOf(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::string fitted(std::string_view text, std::size_t width) {
    std::string result(text);
    if (columnsOf(result) > width) {
        result = result.substr(0, width - 1); // code is ASCII, but for its strings
        while (!result.empty() && (static_cast<unsigned char>(result.back()) & 0x80U) != 0)
            result.pop_back();
        result += "…";
    }
    result.append(width - std::min(width, columnsOf(result)), ' ');
    return result;
}

std::string signedNumber(std::int64_t change) {
    return change == 0 ? "" : fmt::format("{:+}", change);
}

std::string withoutTrailingBlanks(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

class DifferenceText {
public:
    DifferenceText(const AssemblyView& view, std::size_t width, const Terminal& terminal)
        : before_(view.versions.at(0)), after_(view.versions.at(1)), difference_(*view.difference),
          terminal_(terminal),
          column_(std::max(minColumn, (width - std::min<std::size_t>(width, 17)) / 2)) {}

    std::string run() {
        const auto& facts = after_.assembly.facts;
        out_ += fmt::format(
            "{}  {} for {}, {}\n", terminal_.paint(Colour::Bold, after_.assembly.kernel),
            spelling(after_.assembly.listing.language), facts.architecture, facts.compiler);
        out_ += fmt::format("  before  {}\n  after   {}\n\n", before_.label, after_.label);
        table();
        opcodes();
        rows();
        for (const std::string& note : after_.assembly.notes)
            out_ += "\n" + terminal_.paint(Colour::Dim, note) + "\n";
        return std::move(out_);
    }

private:
    void tableRow(std::string_view name, std::uint64_t before, std::uint64_t after) {
        const auto change = static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
        const auto text = withoutTrailingBlanks(
            fmt::format("  {:<24}{:>10}{:>10}{:>10}", name, before, after, signedNumber(change)));
        out_ += (change == 0 ? terminal_.paint(Colour::Dim, text) : text) + "\n";
    }

    void table() {
        const auto& before = before_.assembly.facts;
        const auto& after = after_.assembly.facts;
        out_ += terminal_.paint(Colour::Dim, fmt::format("  {:<24}{:>10}{:>10}{:>10}", "", "before",
                                                         "after", "change")) +
                "\n";
        tableRow("registers", before.registers, after.registers);
        tableRow("bytes of spill stores", before.spillStoreBytes, after.spillStoreBytes);
        tableRow("bytes of spill loads", before.spillLoadBytes, after.spillLoadBytes);
        tableRow("bytes of stack", before.stackBytes, after.stackBytes);
        tableRow("bytes of shared memory", before.staticSharedBytes, after.staticSharedBytes);
        tableRow("barriers", before.barriers, after.barriers);
        if (before_.assembly.occupancy && after_.assembly.occupancy)
            tableRow("warps a multiprocessor", before_.assembly.occupancy->warps,
                     after_.assembly.occupancy->warps);
        tableRow("instructions", engine::totalOf(difference_.before),
                 engine::totalOf(difference_.after));
        for (std::size_t i = 0; i < difference_.before.size(); ++i) {
            const auto kind = static_cast<InstructionClass>(i);
            if (kind != InstructionClass::Padding &&
                difference_.before[i] + difference_.after[i] > 0)
                tableRow(fmt::format("  {}", title(kind)), difference_.before[i],
                         difference_.after[i]);
        }
    }

    void opcodes() {
        if (difference_.opcodes.empty())
            return;
        out_ += "\n" + terminal_.paint(Colour::Bold, "Opcodes") + "\n";
        const auto shown = std::min(maxOpcodes, difference_.opcodes.size());
        for (std::size_t i = 0; i < shown; ++i) {
            const auto& change = difference_.opcodes[i];
            tableRow(change.opcode, change.before, change.after);
        }
        if (shown < difference_.opcodes.size())
            out_ += fmt::format("  and {} more\n", difference_.opcodes.size() - shown);
    }

    /// "  16 " and the instruction; blank where there is none.
    std::string side(const AssemblyVersion& version, std::optional<std::uint32_t> index) const {
        if (!index)
            return std::string(column_ + 6, ' ');
        const auto& instruction = version.assembly.listing.instructions.at(*index);
        const auto place = shownPlace(version.assembly, instruction);
        const bool isMain =
            place && version.assembly.listing.files.at(place->file) == version.program.file;
        return fmt::format("{:>5} {}", isMain ? std::to_string(place->line + 1) : "",
                           fitted(instruction.text, column_));
    }

    void row(const AlignedRow& row) {
        const auto left = side(before_, row.before);
        const auto right = withoutTrailingBlanks(side(after_, row.after));
        switch (row.change) {
        case RowChange::Same:
            out_ += terminal_.paint(Colour::Dim, fmt::format("  {} | {}", left, right)) + "\n";
            break;
        case RowChange::Changed:
            out_ += terminal_.paint(Colour::Yellow, fmt::format("~ {} | {}", left, right)) + "\n";
            break;
        case RowChange::Removed:
            out_ += terminal_.paint(Colour::Red, "- " + left) + " |\n";
            break;
        case RowChange::Added:
            out_ += fmt::format("  {} {}\n", left, terminal_.paint(Colour::Green, "+ " + right));
            break;
        }
    }

    void rows() {
        const auto& rows = difference_.rows;
        out_ += fmt::format(
            "\n{}\n", terminal_.paint(Colour::Bold,
                                      fmt::format("  {} | {}", fitted(" line before", column_ + 6),
                                                  " line after")));
        for (std::size_t i = 0; i < rows.size();) {
            std::size_t end = i;
            while (end < rows.size() && rows[end].change == RowChange::Same)
                ++end;
            if (end == i) {
                row(rows[i++]);
                continue;
            }
            // Its beginning belongs to the change before it, its end to the one after.
            const auto head = i == 0 ? i : std::min(end, i + contextRows);
            const auto tail =
                end == rows.size() ? end : std::max(head, end - std::min(end, contextRows));
            for (; i < head; ++i)
                row(rows[i]);
            if (tail > i)
                out_ += terminal_.paint(Colour::Dim,
                                        fmt::format("  {:>5} … {} the same", "", tail - i)) +
                        "\n";
            for (i = std::max(i, tail); i < end; ++i)
                row(rows[i]);
        }
    }

    const AssemblyVersion& before_;
    const AssemblyVersion& after_;
    const engine::AssemblyDifference& difference_;
    const Terminal& terminal_;
    std::size_t column_; ///< Width of an instruction's text.
    std::string out_;
};

} // namespace

std::string differenceText(const AssemblyView& view, std::size_t width, const Terminal& terminal) {
    return DifferenceText(view, width, terminal).run();
}

} // namespace kernelskill::lsp
