/// libcurl, loaded when a language model is first asked: it brings some twenty libraries along,
/// which nobody else should have to start with.
#pragma once

#include "analysis/source/error.h"

#include <curl/curl.h>

namespace kernelskill::engine {

/// What of libcurl is used. Filled whole, or not at all; stays loaded for as long as the process
/// lives, because libcurl and what it brings cannot be unloaded safely.
struct CurlLibrary {
    decltype(&curl_easy_init) easyInit = nullptr;
    decltype(&curl_easy_cleanup) easyCleanup = nullptr;
    decltype(&curl_easy_setopt) easySetOption = nullptr;
    decltype(&curl_easy_getinfo) easyGetInfo = nullptr;
    decltype(&curl_easy_header) easyHeader = nullptr;
    decltype(&curl_easy_strerror) easyErrorText = nullptr;
    decltype(&curl_multi_init) multiInit = nullptr;
    decltype(&curl_multi_cleanup) multiCleanup = nullptr;
    decltype(&curl_multi_add_handle) multiAdd = nullptr;
    decltype(&curl_multi_remove_handle) multiRemove = nullptr;
    decltype(&curl_multi_perform) multiPerform = nullptr;
    decltype(&curl_multi_poll) multiPoll = nullptr;
    decltype(&curl_multi_wakeup) multiWakeup = nullptr;
    decltype(&curl_multi_info_read) multiInfoRead = nullptr;
    decltype(&curl_slist_append) listAppend = nullptr;
    decltype(&curl_slist_free_all) listFree = nullptr;
    decltype(&curl_url) url = nullptr;
    decltype(&curl_url_cleanup) urlCleanup = nullptr;
    decltype(&curl_url_set) urlSet = nullptr;
    decltype(&curl_url_get) urlGet = nullptr;
    decltype(&curl_free) free = nullptr;

    /// Missing, with the remedy, where there is none or one that is too old. After the first time
    /// it costs microseconds. Thread-safe.
    [[nodiscard]] static Result<CurlLibrary> load();
};

} // namespace kernelskill::engine
