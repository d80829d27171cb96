"use strict";

// Elements of the page. Text goes into it as text (textContent), never as HTML.

const part = (id) => document.getElementById(id);

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function refill(element, children) {
  element.replaceChildren(...children);
}
