#include "skills/editing/block_text.h"

#include <spdlog/fmt/fmt.h>

#include <cctype>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isComment(std::string_view line) {
    const auto first = line.find_first_not_of(" \t");
    return first != std::string_view::npos && line.substr(first).starts_with("//");
}

} // namespace

std::string joinedName(std::string_view first, std::string name) {
    if (name.contains('_') || name.empty())
        return fmt::format("{}_{}", first, name);
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    return std::string(first) + name;
}

std::string_view isFirstThread(bool isFlatBlock) {
    return isFlatBlock ? "threadIdx.x == 0"
                       : "threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0";
}

std::string_view threadsOfBlock(bool isFlatBlock) {
    return isFlatBlock ? "blockDim.x" : "blockDim.x * blockDim.y * blockDim.z";
}

std::string_view threadInBlock(LaneForm lanes) {
    switch (lanes) {
    case LaneForm::AlongX:
        return "threadIdx.x";
    case LaneForm::TwoAxes:
        return "(threadIdx.y * blockDim.x + threadIdx.x)";
    case LaneForm::ThreeAxes:
        break;
    }
    return "((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x)";
}

TextEdit linesBefore(const SourceText& source, const Stmt& statement, const CodeLines& lines) {
    std::uint32_t line = source.lineColumn(beginWithPragma(statement)).line;
    while (line > 0 && isComment(source.line(line - 1)))
        --line;
    const std::uint32_t at = source.lineSpan(line).begin;
    return {{at, at}, lines.text()};
}

TextEdit linesAfter(const SourceLayout& layout, Span statement, const CodeLines& lines) {
    const std::uint32_t end = layout.endOfLineTrivia(statement.end);
    std::string text = layout.newline() + lines.text();
    text.resize(text.size() - layout.newline().size());
    return {{end, end}, std::move(text)};
}

TextEdit linesAtEnd(const SourceLayout& layout, const KernelModel& kernel, const CodeLines& lines) {
    const std::uint32_t bracket = layout.lineBegin(kernel.bodySpan.end - 1);
    return {{bracket, bracket}, lines.text()};
}

} // namespace kernelskill::skills
