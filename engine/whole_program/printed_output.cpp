#include "engine/whole_program/printed_output.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace kernelskill::engine {
namespace {

/// The line with one blank for each run of white space, and none around it. A column of a table is
/// as wide as its longest number, which may be a time.
std::string withSingleBlanks(std::string_view line) {
    std::string text;
    for (const char c : line) {
        if (std::isspace(static_cast<unsigned char>(c)) == 0)
            text += c;
        else if (!text.empty() && text.back() != ' ')
            text += ' ';
    }
    if (!text.empty() && text.back() == ' ')
        text.pop_back();
    return text;
}

std::vector<std::string> linesOf(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        lines.push_back(withSingleBlanks(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool isDigit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// The length of the number that a text begins with; 0 if there is none.
std::size_t numberLength(std::string_view text) {
    std::size_t at = 0;
    const auto skipDigits = [&] {
        const std::size_t begin = at;
        while (at < text.size() && isDigit(text[at]))
            ++at;
        return at > begin;
    };
    bool hasDigits = skipDigits();
    if (at < text.size() && text[at] == '.') {
        ++at;
        hasDigits = skipDigits() || hasDigits;
    }
    if (!hasDigits)
        return 0;
    if (at + 1 < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        const std::size_t mantissa = at;
        at += text[at + 1] == '+' || text[at + 1] == '-' ? 2 : 1;
        if (!skipDigits())
            at = mantissa;
    }
    return at;
}

bool areClose(std::string_view a, std::string_view b) {
    if (a == b)
        return true;
    const auto isFraction = [](std::string_view text) {
        return text.find_first_of(".eE") != std::string_view::npos;
    };
    double first = 0;
    double second = 0;
    const bool isRead = std::from_chars(a.data(), a.data() + a.size(), first).ec == std::errc{} &&
                        std::from_chars(b.data(), b.data() + b.size(), second).ec == std::errc{};
    // A printed number below it is the error of a result.
    constexpr double smallest = 1e-3;
    return isRead && isFraction(a) && isFraction(b) &&
           std::abs(first - second) <=
               printedTolerance * std::max({std::abs(first), std::abs(second), smallest});
}

/// Whether two lines have the same words, and numbers that are close.
bool agree(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        const std::size_t first = numberLength(a);
        const std::size_t second = numberLength(b);
        if (first == 0 || second == 0) {
            if (a.front() != b.front())
                return false;
            a.remove_prefix(1);
            b.remove_prefix(1);
            continue;
        }
        if (!areClose(a.substr(0, first), b.substr(0, second)))
            return false;
        a.remove_prefix(first);
        b.remove_prefix(second);
    }
    return a.empty() && b.empty();
}

/// At most 80 characters of the line, with its part at `place`, where two lines differ.
std::string shortened(const std::string& line, std::size_t place) {
    constexpr std::size_t most = 80;
    const std::size_t begin = place < most ? 0 : place - most / 2;
    return (begin > 0 ? "..." : "") + line.substr(std::min(begin, line.size()), most) +
           (line.size() > begin + most ? "..." : "");
}

std::size_t firstDifference(const std::string& one, const std::string& other) {
    return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

} // namespace

PrintedOutput::PrintedOutput(std::string_view output)
    : lines_(linesOf(output)), isStable_(lines_.size(), true) {}

void PrintedOutput::add(std::string_view output) {
    const auto others = linesOf(output);
    hasEqualLength_ = hasEqualLength_ && others.size() == lines_.size();
    for (std::size_t i = 0; i < std::min(lines_.size(), others.size()); ++i)
        isStable_[i] = isStable_[i] && lines_[i] == others[i];
}

bool PrintedOutput::isComparable() const {
    return hasEqualLength_ && std::ranges::find(isStable_, true) != isStable_.end();
}

std::string PrintedOutput::note() const {
    if (lines_.empty() && hasEqualLength_)
        return "the program prints nothing";
    if (!isComparable())
        return "the outputs of two runs of the original differ and are not comparable";
    const auto unstable = std::ranges::count(isStable_, false);
    return unstable == 0
               ? ""
               : fmt::format("{} of {} lines differ between runs of the original and are not "
                             "compared",
                             unstable, lines_.size());
}

std::optional<std::string> PrintedOutput::differenceTo(std::string_view output) const {
    if (!isComparable())
        return std::nullopt;
    const auto others = linesOf(output);
    if (others.size() != lines_.size())
        return fmt::format("it prints {} lines instead of {}", others.size(), lines_.size());
    for (std::size_t i = 0; i < lines_.size(); ++i)
        if (isStable_[i] && !agree(lines_[i], others[i]))
            return fmt::format("line {} is '{}' instead of '{}'", i + 1,
                               shortened(others[i], firstDifference(others[i], lines_[i])),
                               shortened(lines_[i], firstDifference(others[i], lines_[i])));
    return std::nullopt;
}

} // namespace kernelskill::engine
