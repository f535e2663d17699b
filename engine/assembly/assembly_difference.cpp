#include "engine/assembly/assembly_difference.h"

#include "engine/assembly/sequence_alignment.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

namespace kernelskill::engine {
namespace {

bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

bool isNamePart(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_' || c == '$';
}

bool areDigits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, isDigit);
}

/// "%r" for "%r12"; "%tid" stays.
std::string ptxName(std::string_view name) {
    if (name.starts_with('%')) {
        const auto end = name.find_first_of("0123456789");
        return std::string(end != std::string_view::npos && areDigits(name.substr(end))
                               ? name.substr(0, end)
                               : name);
    }
    if (name.starts_with("$L"))
        return "$L";
    // In "<kernel>_param_2" the kernel's name changes with its signature.
    const auto parameter = name.rfind("_param_");
    if (parameter != std::string_view::npos && areDigits(name.substr(parameter + 7)))
        return std::string(name.substr(parameter + 1));
    return std::string(name.starts_with("_Z") ? "_Z" : name);
}

/// "R" for "R12", "UP" for "UP3"; "RZ" and "PT" stay.
std::string sassName(std::string_view name) {
    static constexpr auto files =
        std::to_array<std::string_view>({"UR", "UP", "R", "P", "B", "SB"});
    for (const auto file : files) {
        if (name.starts_with(file) && areDigits(name.substr(file.size())))
            return std::string(file);
    }
    return std::string(name.starts_with("_Z") || name.starts_with('$') ? "_Z" : name);
}

class Keys {
public:
    [[nodiscard]] std::uint32_t of(const std::string& text) {
        return keys_.try_emplace(text, static_cast<std::uint32_t>(keys_.size())).first->second;
    }

private:
    std::map<std::string, std::uint32_t> keys_;
};

/// The indices of instructions that are not padding.
std::vector<std::uint32_t> executedOf(const Listing& listing) {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = 0; i < listing.instructions.size(); ++i) {
        if (listing.instructions[i].kind != InstructionClass::Padding)
            indices.push_back(i);
    }
    return indices;
}

class Comparison {
public:
    Comparison(const Listing& before, const Listing& after)
        : before_(before), after_(after), left_(executedOf(before)), right_(executedOf(after)) {}

    std::vector<AlignedRow> run() {
        std::uint32_t left = 0;
        std::uint32_t right = 0;
        auto common = commonElements(keysOf(before_, left_), keysOf(after_, right_));
        common.emplace_back(left_.size(), right_.size());
        for (const auto& [nextLeft, nextRight] : common) {
            alignOpcodes(left, nextLeft, right, nextRight);
            if (nextLeft < left_.size())
                rows_.push_back({RowChange::Same, left_[nextLeft], right_[nextRight]});
            left = nextLeft + 1;
            right = nextRight + 1;
        }
        return std::move(rows_);
    }

private:
    std::vector<std::uint32_t> keysOf(const Listing& listing,
                                      const std::vector<std::uint32_t>& indices) {
        std::vector<std::uint32_t> keys;
        for (const auto index : indices)
            keys.push_back(
                keys_.of(withoutNumbering(listing.instructions[index].text, listing.language)));
        return keys;
    }

    /// Aligns the instructions between two matching ones.
    void alignOpcodes(std::uint32_t left, std::uint32_t leftEnd, std::uint32_t right,
                      std::uint32_t rightEnd) {
        std::vector<std::uint32_t> opcodesLeft;
        std::vector<std::uint32_t> opcodesRight;
        for (auto i = left; i < leftEnd; ++i)
            opcodesLeft.push_back(opcodes_.of(before_.instructions[left_[i]].opcode));
        for (auto i = right; i < rightEnd; ++i)
            opcodesRight.push_back(opcodes_.of(after_.instructions[right_[i]].opcode));
        auto common = commonElements(opcodesLeft, opcodesRight);
        common.emplace_back(leftEnd - left, rightEnd - right);
        std::uint32_t doneLeft = 0;
        std::uint32_t doneRight = 0;
        for (const auto& [nextLeft, nextRight] : common) {
            for (; doneLeft < nextLeft; ++doneLeft)
                rows_.push_back({RowChange::Removed, left_[left + doneLeft], std::nullopt});
            for (; doneRight < nextRight; ++doneRight)
                rows_.push_back({RowChange::Added, std::nullopt, right_[right + doneRight]});
            if (left + nextLeft < leftEnd)
                rows_.push_back(
                    {RowChange::Changed, left_[left + nextLeft], right_[right + nextRight]});
            ++doneLeft;
            ++doneRight;
        }
    }

    const Listing& before_;
    const Listing& after_;
    std::vector<std::uint32_t> left_;  ///< The executed instructions of `before_`.
    std::vector<std::uint32_t> right_; ///< The executed instructions of `after_`.
    Keys keys_;
    Keys opcodes_;
    std::vector<AlignedRow> rows_;
};

std::vector<OpcodeChange> opcodeChanges(const Listing& before, const Listing& after) {
    std::map<std::string, OpcodeChange> counts;
    for (const auto index : executedOf(before))
        ++counts[before.instructions[index].opcode].before;
    for (const auto index : executedOf(after))
        ++counts[after.instructions[index].opcode].after;
    std::vector<OpcodeChange> changes;
    for (auto& [opcode, change] : counts) {
        if (change.before != change.after)
            changes.push_back({opcode, change.before, change.after});
    }
    std::ranges::stable_sort(changes, std::ranges::greater{}, [](const OpcodeChange& change) {
        return std::abs(static_cast<std::int64_t>(change.after) - change.before);
    });
    return changes;
}

} // namespace

std::string_view spelling(RowChange change) {
    static constexpr std::array<std::string_view, 4> names{"same", "changed", "removed", "added"};
    return names.at(static_cast<std::size_t>(change));
}

std::string withoutNumbering(std::string_view text, AssemblyLanguage language) {
    const bool isPtx = language == AssemblyLanguage::Ptx;
    constexpr std::string_view reuse = ".reuse"; // A hint for the register file's cache.
    constexpr std::string_view label = ".L";
    std::string result;
    while (!text.empty()) {
        if (!isPtx && text.starts_with(reuse)) {
            text.remove_prefix(reuse.size());
            continue;
        }
        const bool isLabel = !isPtx && text.starts_with(label);
        std::size_t length = text.front() == '%' || isLabel ? 1 : 0;
        while (length < text.size() && isNamePart(text[length]))
            ++length;
        if (length == 0) {
            result += text.front();
            text.remove_prefix(1);
            continue;
        }
        const auto name = text.substr(0, length);
        result += isLabel ? std::string(label) : isPtx ? ptxName(name) : sassName(name);
        text.remove_prefix(length);
    }
    return result;
}

AssemblyDifference compareListings(const Listing& before, const Listing& after) {
    return {countClasses(before), countClasses(after), opcodeChanges(before, after),
            Comparison(before, after).run()};
}

} // namespace kernelskill::engine
