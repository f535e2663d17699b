#include "skills/stream-overlap/side_streams.h"

#include "skills/editing/code_lines.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

SideStreams::SideStreams(const HostCode& code, const StreamPlace& place, std::size_t count,
                         bool isArray)
    : code_(code), place_(place), count_(count), isArray_(isArray), each_(code.name("side")),
      old_(code.stream(place.stream)), forked_(code.name("forked")), joined_(code.name("joined")) {
    if (isArray || count == 1) {
        names_.push_back(code.name(isArray ? "streams" : "beside"));
        return;
    }
    for (std::size_t i = 1; i <= count; ++i)
        names_.push_back(code.name(fmt::format("beside{}", i)));
}

std::vector<TextEdit> SideStreams::edits(const std::string& comment) const {
    const Span first = code_.body().stmt(place_.first).span;
    const Span last = code_.body().stmt(place_.last).span;
    const auto lines = [&](Span at) { return CodeLines(code_.layout(), code_.indentation(at)); };
    if (place_.loop == noId) {
        CodeLines start = lines(first);
        addMaking(start, comment);
        addFork(start);
        CodeLines end = lines(first);
        addJoin(end);
        addDestroying(end);
        return {code_.before(first, start.text()), code_.after(last, end.text())};
    }
    const Span loop = code_.body().stmt(place_.loop).span;
    CodeLines made = lines(loop);
    addMaking(made, comment);
    CodeLines forked = lines(first);
    addFork(forked);
    CodeLines joined = lines(last);
    addJoin(joined);
    CodeLines destroyed = lines(loop);
    addDestroying(destroyed);
    return {code_.before(loop, made.text()), code_.before(first, forked.text()),
            code_.after(last, joined.text()), code_.after(loop, destroyed.text())};
}

void SideStreams::addForEach(CodeLines& lines, const Calls& calls) const {
    if (!isArray_) {
        for (const std::string& stream : names_)
            for (const std::string& call : calls(stream))
                lines.add(code_.call(call));
        return;
    }
    const std::vector<std::string> each = calls(fmt::format("{}[{}]", names_.front(), each_));
    const bool isBlock = each.size() > 1;
    lines.open(
        fmt::format("for (int {0} = 0; {0} < {1}; ++{0}){2}", each_, count_, isBlock ? " {" : ""));
    for (const std::string& call : each)
        lines.add(code_.call(call));
    if (isBlock)
        lines.close();
    else
        lines.leave();
}

void SideStreams::addMaking(CodeLines& lines, const std::string& comment) const {
    lines.add("// " + comment);
    const auto made = [](const std::string& stream) {
        return fmt::format("cudaStreamCreateWithFlags(&{}, cudaStreamNonBlocking)", stream);
    };
    if (isArray_) {
        lines.add(fmt::format("cudaStream_t {}[{}];", names_.front(), count_));
        addForEach(lines, [&](const std::string& stream) {
            return std::vector<std::string>{made(stream)};
        });
    } else {
        for (const std::string& stream : names_)
            lines.add(fmt::format("cudaStream_t {};", stream)).add(code_.call(made(stream)));
    }
    for (const std::string& event : {forked_, joined_})
        lines.add(fmt::format("cudaEvent_t {};", event))
            .add(code_.call(
                fmt::format("cudaEventCreateWithFlags(&{}, cudaEventDisableTiming)", event)));
}

void SideStreams::addFork(CodeLines& lines) const {
    lines.add(code_.call(fmt::format("cudaEventRecord({}, {})", forked_, old_)));
    addForEach(lines, [&](const std::string& stream) {
        return std::vector<std::string>{
            fmt::format("cudaStreamWaitEvent({}, {}, 0)", stream, forked_)};
    });
}

void SideStreams::addJoin(CodeLines& lines) const {
    addForEach(lines, [&](const std::string& stream) {
        return std::vector<std::string>{
            fmt::format("cudaEventRecord({}, {})", joined_, stream),
            fmt::format("cudaStreamWaitEvent({}, {}, 0)", old_, joined_)};
    });
}

void SideStreams::addDestroying(CodeLines& lines) const {
    for (const std::string& event : {forked_, joined_})
        lines.add(code_.call(fmt::format("cudaEventDestroy({})", event)));
    addForEach(lines, [](const std::string& stream) {
        return std::vector<std::string>{fmt::format("cudaStreamDestroy({})", stream)};
    });
}

} // namespace kernelskill::skills
