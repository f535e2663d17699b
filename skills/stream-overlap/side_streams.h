/// Streams beside one that is there, and the events that keep their work in order with its own.
#pragma once

#include "skills/editing/code_lines.h"
#include "skills/editing/host_code.h"
#include "skills/stream-overlap/stream_place.h"

#include <functional>
#include <string>
#include <vector>

namespace kernelskill::skills {

/// Text that makes the streams, lets them begin when all is over that the old stream was given
/// before, lets the old stream wait for them afterwards, and destroys them. Keeps references.
class SideStreams {
public:
    /// Variables, one each; or, with `isArray`, one array.
    SideStreams(const HostCode& code, const StreamPlace& place, std::size_t count, bool isArray);

    /// The variable of that stream, from 0 on, or the array.
    [[nodiscard]] const std::string& name(std::size_t stream = 0) const { return names_[stream]; }
    /// All around the statements of the place; `comment` goes before.
    [[nodiscard]] std::vector<analysis::TextEdit> edits(const std::string& comment) const;

private:
    using Calls = std::function<std::vector<std::string>(const std::string& stream)>;

    /// The calls for each stream; in a loop where they are an array.
    void addForEach(CodeLines& lines, const Calls& calls) const;
    void addMaking(CodeLines& lines, const std::string& comment) const;
    void addFork(CodeLines& lines) const;
    void addJoin(CodeLines& lines) const;
    void addDestroying(CodeLines& lines) const;

    const HostCode& code_;
    const StreamPlace& place_;
    std::size_t count_;
    bool isArray_;
    std::vector<std::string> names_;
    std::string each_; ///< Counts the elements of the array.
    std::string old_;  ///< The stream that was there.
    std::string forked_;
    std::string joined_;
};

} // namespace kernelskill::skills
