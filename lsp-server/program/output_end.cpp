#include "lsp-server/program/output_end.h"

#include "lsp-server/transport/utf8.h"

namespace kernelskill::lsp {

namespace {

constexpr std::size_t maxOutput = 8192;  // bytes
constexpr std::size_t maxErrorLines = 6; // of the output

} // namespace

void OutputEnd::add(std::string_view text) {
    text_ += text;
    if (text_.size() > 2 * maxOutput)
        text_.erase(0, text_.size() - maxOutput);
}

std::string OutputEnd::text() const {
    return replaceInvalidUtf8(text_.size() <= maxOutput
                                  ? text_
                                  : std::string_view(text_).substr(text_.size() - maxOutput));
}

std::string OutputEnd::lastLines() const {
    const std::string all = text();
    std::size_t end = all.find_last_not_of("\n ") + 1;
    std::size_t begin = end;
    for (std::size_t lines = 0; begin > 0 && lines < maxErrorLines; ++lines) {
        const std::size_t newline = all.rfind('\n', begin - 1);
        begin = newline == std::string::npos ? 0 : newline;
    }
    if (begin > 0)
        ++begin; // It is the line end before them.
    return all.substr(begin, end - begin);
}

Error OutputEnd::explained(Error error) const {
    const std::string lines = lastLines();
    if (error.kind != ErrorKind::Cancelled && !lines.empty())
        error.remedy = "Its output ends:\n" + lines;
    return error;
}

} // namespace kernelskill::lsp
