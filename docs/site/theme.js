// SPDX-License-Identifier: Apache-2.0
// The button for light and dark, and the mark in the page's list of headings. It takes the place of the theme's own
// script, which in Debian 12 imports a module, and browsers load no modules from files.
"use strict";
(() => {
    const after = { auto: "dark", dark: "light", light: "auto" };

    function show(mode) {
        document.body.dataset.theme = mode;
        try {
            localStorage.setItem("theme", mode);
        } catch {
            // The browser keeps nothing for this page: the choice lasts as long as the page.
        }
    }

    // Marks the last heading that has passed the upper edge.
    function follow(links) {
        let current = null;
        for (const link of links) {
            const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
            if (heading && heading.getBoundingClientRect().top < 100)
                current = link;
        }
        for (const link of links)
            link.parentElement.classList.toggle("scroll-current", link === current);
    }

    document.documentElement.classList.remove("no-js");
    document.addEventListener("DOMContentLoaded", () => {
        for (const button of document.getElementsByClassName("theme-toggle"))
            button.addEventListener("click", () => show(after[document.body.dataset.theme] || "dark"));
        const links = [...document.querySelectorAll(".toc-tree a")].filter((link) => link.hash);
        window.addEventListener("scroll", () => follow(links), { passive: true });
        follow(links);
    });
})();
