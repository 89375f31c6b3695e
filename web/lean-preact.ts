/**
 * Removes the code of Preact that the frame never uses, a thirtieth of the frame: class components,
 * contexts, portals, suspense, hydration, error boundaries and MathML. The version of Preact is
 * pinned. If another version lacks one of the texts below, the build stops and names the text.
 */

import type { Plugin } from 'vite';

/** Texts of Preact's module, and what replaces each. */
const CUTS: readonly (readonly [string, string])[] = [
  // Portals
  ['"function"!=typeof n.type||n.props.__P?null:', '"function"!=typeof n.type?null:'],
  ['&&n.__c&&!n.props.__P)', '&&n.__c)'],
  ['if(n.props.__P)return t;', ''],
  [
    'M.__P&&(s=l,f=(t=M.__P).namespaceURI,c=o=null,u.props&&u.props.__P!=t&&' +
      '(u.__k.some(function(n){n&&J(n,n)}),u.__k=null),l=u.__k?S(u,0):null),',
    '',
  ],
  ['M.__P&&(r.__e=null,l=s),', ''],
  ['||u&&!t.props.__P)', '||u)'],
  // Hydration and suspense
  [
    '128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&(r.__u|=c,p=o=[],' +
      '8==s.nodeType?l=B(s,o):o.push(s),l=o[0]||l),',
    '',
  ],
  ['!u&&(i=t.__c)&&(i=i.__z)&&(f=B(i,o=[]))&&(i==t.__e&&o.some(g),g(f),g(i)),', ''],
  ['&&8==t.nodeType&&!t.data.startsWith("$s");', '&&8==t.nodeType;'],
  [
    '}catch(t){if(e.length=v,r.__v=null,c||o)if(t&&t.then){if(r.__u|=128|c,o){for(' +
      '~(T=o.indexOf(l||void 0))||(T=o.length);(N=o[T-1])&&8==N.nodeType;)T--;' +
      'for(;T<o.length;T++)if(N=o[T])if(o[T]=null,O){if(N==P)break}else{' +
      'if(8!=N.nodeType)break;N.data.startsWith("$s")&&(P=B(O=N))}}if(!O){' +
      'for(;l&&8==l.nodeType&&l.nextSibling;)l=l.nextSibling;O=l}' +
      '(s=B(O=r.__c.__z||(r.__c.__z=O)))?(r.__e=O,l=s):r.__e=l,l=l&&l.nextSibling}' +
      'else o&&o.some(g);else r.__e=u.__e;r.__k||(r.__k=u.__k||[]),t&&t.then||D(r),' +
      'n.__e(t,r,u)}}else',
    '}else',
  ],
  // Class components and contexts
  ['C=(s=V.prototype)&&s.render,j=(s=V.contextType)&&i[s.__c],L=s?j?j.props.value:s.__:i,', ''],
  [
    '(C?r.__c=d=new V(M,L):(r.__c=d=new x(M,L),d.constructor=V,d.render=K),j&&j.sub(d),' +
      'd.state||(d.state={}),',
    '(r.__c=d=new x(M,i),',
  ],
  [
    'C&&(d.__s||(d.__s=d.state),V.getDerivedStateFromProps&&(d.__s==d.state&&' +
      '(d.__s=_({},d.__s)),_(d.__s,V.getDerivedStateFromProps(M,d.__s)))),',
    '',
  ],
  [
    'M!==k&&C&&!V.getDerivedStateFromProps&&d.componentWillReceiveProps&&' +
      'd.componentWillReceiveProps(M,L),',
    '',
  ],
  [
    '||!(4&d.__g)&&d.shouldComponentUpdate&&!1===d.shouldComponentUpdate(M,d.__s,L)){' +
      'r.__v!=u.__v&&(d.props=M,d.state=d.__s,d.__g&=-9),',
    '){',
  ],
  [
    'd.componentWillUpdate&&d.componentWillUpdate(M,d.__s,L),C&&d.componentDidUpdate&&' +
      'd.__h.push(function(){d.componentDidUpdate(k,b,m)})}else ' +
      'C&&!V.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),' +
      'C&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=L,',
    '}',
  ],
  ['q=C?25:0;', 'q=0;'],
  ['C&&(y.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,', ''],
  [
    'd.getChildContext&&(i=_({},i,d.getChildContext())),C&&u.__c&&' +
      'd.getSnapshotBeforeUpdate&&(m=d.getSnapshotBeforeUpdate(k,b)),',
    '',
  ],
  ['if(i.componentWillUnmount)try{i.componentWillUnmount()}catch(t){n.__e(t,r)}', ''],
  // MathML, and elements that the frame does not have
  ['"math"==C?f="http://www.w3.org/1998/Math/MathML":', ''],
  [
    '("foreignObject"==C||"http://www.w3.org/1998/Math/MathML"==f&&v.test(C))&&' +
      '(f="http://www.w3.org/1999/xhtml"),',
    '',
  ],
  // Errors end the page: no component catches them
  [
    '__e:function(n,t,r,u){for(var i,o,e;t=t.__;)if((i=t.__c)&&!(1&i.__g)){i.__g|=4;try{' +
      'if((e=(o=i.constructor)&&o.getDerivedStateFromError)&&' +
      'i.setState(o.getDerivedStateFromError(n)),i.componentDidCatch&&' +
      '(i.componentDidCatch(n,u||{}),e=1),e&&8&i.__g)return void(i.__g|=2)}catch(t){n=t}}' +
      'throw f=0,n}',
    '',
  ],
  // Children that the document has before the first drawing
  [
    ',o)for(s=0;s<o.length;s++)if((k=o[s])&&(C?k.localName==C:3==k.nodeType)){' +
      't=k,o[s]=null;break}if(!t){',
    ',!t){',
  ],
  [
    ',l&&(n.__m&&n.__m(r,o),l=!1),o=null}if(C){if(a="template"==C&&t.content||t,' +
      'o="textarea"==C&&null!=x.defaultValue?null:o&&d.call(a.childNodes),!l&&o)' +
      'for($={},s=0;s<t.attributes.length;s++)$[(k=t.attributes[s]).name]=k.value;' +
      'for(s in $)',
    '}if(C){a=t;for(s in $)',
  ],
  ['o?o[0]:u.__k&&S(u,0),l,c),o&&o.some(g)),', 'u.__k&&S(u,0),l,c)),'],
  [
    'n.__&&n.__(t,r),9==r.nodeType&&(r=r.documentElement),i=(u=t&&32&t.__u)?null:r.__k,',
    '',
  ],
  [
    'i||p,p,r.namespaceURI,i?null:r.firstChild?d.call(r.childNodes):null,f,' +
      'i?i.__e:r.firstChild,u,o),E(f,r.__k,o),r.__k.props.children=null}',
    'p,p,r.namespaceURI,null,f,null,!1,o),E(f,r.__k,o)}',
  ],
  ['l&&"function"!=typeof k||$[s]===k', '$[s]===k'],
  ['h?(l||y&&(', 'h?(y&&('],
  ['$===x||l&&t.data==x||', '$===x||'],
  // Further code of class components, and of errors
  ['v=e.length;try{if(M=', 'if(M='],
  ['(r.__c=d,2&d.__g&&(d.__g|=1))', 'r.__c=d'],
  [',1&d.__g&&(d.__g&=-4)', ''],
  ['k=d.props,b=d.state,', ''],
  ['p&&p.some(g),', ''],
  [',d.__h=[],d.__k=[])', ',d.__h=[])'],
  ['y.push.apply(d.__h,d.__k),d.__k=[],', ''],
  ['s=d.render(d.props,d.state=d.__s,d.context)', 's=V(d.props)'],
  [
    'var r=this.__s;r&&r!=this.state||(r=this.__s=_({},this.state)),"function"==typeof n&&' +
      '(n=n(_({},r),this.props)),n&&(_(r,n),this.__v&&(t&&this.__k.push(t),L(this)))',
    'this.__v&&L(this)',
  ],
  [
    'x.prototype.forceUpdate=function(n){this.__v&&(this.__g|=4,n&&this.__h.push(n),L(this))},' +
      'x.prototype.render=$,',
    '',
  ],
  [
    'try{t=r.__h,r.__h=[],t.some(function(n){n.call(r)})}catch(t){n.__e(t,r.__v)}',
    't=r.__h,r.__h=[],t.some(function(n){n.call(r)})',
  ],
  // References that are functions
  [
    'function G(t,r,u,i){try{"function"==typeof t?r?r.__x=t(r)||1:i&&(i=i.__c||i.__e)&&' +
      '(r=i.__x)&&(i.__x=null,"function"==typeof r?r():t(null)):t.current=r}catch(t){n.__e(t,u)}}',
    'function G(n,t){n.current=t}',
  ],
  // Hooks into Preact that nobody uses
  ['n.vnode&&n.vnode(r),', ''],
  ['return!o&&n.vnode&&n.vnode(e),e', 'return e'],
  ['&&i==n.debounceRendering||((i=n.debounceRendering)||queueMicrotask)(H)', '||queueMicrotask(H)'],
  ['(i||queueMicrotask)(H)', 'queueMicrotask(H)'],
  ['u(n.event?n.event(r):r)', 'u(r)'],
  // Styles that are texts, and attributes and properties that the frame does not set
  [
    'if("string"==typeof r)n.style.cssText=r;else{if("string"==typeof u&&' +
      '(n.style.cssText=u=""),u)for(t in u)r&&t in r||T(n.style,t);if(r)for(',
    '{for(t in u)r&&t in r||T(n.style,t);for(',
  ],
  [
    'if("http://www.w3.org/2000/svg"==i)t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");' +
      'else if("width"!=t&&"height"!=t&&"href"!=t&&"list"!=t&&"form"!=t&&"tabIndex"!=t&&' +
      '"download"!=t&&"rowSpan"!=t&&"colSpan"!=t&&"role"!=t&&"popover"!=t&&t in n)' +
      'try{return void(n[t]=null==r?"":r)}catch(n){}',
    'if("http://www.w3.org/2000/svg"!=i&&"tabIndex"!=t&&"role"!=t&&t in n)' +
      'return void(n[t]=null==r?"":r);',
  ],
  ['"popover"==t&&1==r?"":r', 'r'],
  ['||"value"==s&&"defaultValue"in x||"checked"==s&&"defaultChecked"in x||N(', '||N('],
  [':"checked"==s?m=k', ''],
  [
    'l&&"textarea"!=C||(s="value","progress"==C&&null==b?t.removeAttribute(s):null==b||' +
      'b===t[s]&&("progress"!=C||b)||N(t,s,b,$[s],f),s="checked",null!=m&&m!=t[s]&&' +
      'N(t,s,m,$[s],f))',
    'null==b||b===t.value||N(t,"value",b)',
  ],
  // Comments, elements of other documents, custom elements, and moves that keep a loaded frame
  [
    'for(t&&!t.parentNode&&(t=S(n))&&!t.parentNode&&(t=null),o=n.__e,e=t;e&&8==e.nodeType;)' +
      'e=e.nextSibling;for(o!=e&&(!u&&r.moveBefore&&o.parentNode?r.moveBefore(o,t):' +
      'r.insertBefore(o,t||null)),t=o;(t=t&&t.nextSibling)&&8==t.nodeType;);return t}',
    'return t&&!t.parentNode&&(t=S(n))&&!t.parentNode&&(t=null),' +
      '(o=n.__e)!=t&&r.insertBefore(o,t||null),o.nextSibling}',
  ],
  [
    'M=a.ownerDocument||document,!C)return M.createTextNode(x);t=M.createElementNS(f,C,x.is?x:a)',
    '!C)return document.createTextNode(x);t=document.createElementNS(f,C)',
  ],
];

/** The same for the module with the hooks. */
const HOOK_CUTS: readonly (readonly [string, string])[] = [
  // Whether a state that was set twice has its old value again
  [
    ',!r.__f)){r.__f=!0;var c=r.shouldComponentUpdate;r.shouldComponentUpdate=' +
      'function(n,t,r){var u=this.__H;if(!u)return!0;var i=!1,f=this.props!=n;' +
      'if(u.__.some(function(n){n.__N&&(i=!0,o(n.__[0],n.__N[0])||(f=!0))}),c){' +
      'var e=c.call(this,n,t,r);return i?e||f:e}return!i||f}}return f.__}',
    '));return f.__}',
  ],
  // Ids
  ['a.__=function(n,t){n&&t.__k&&t.__k.__m&&(n.__m=t.__k.__m),p&&p(n,t)},', ''],
  // Other users of the same options
  [',v&&v(n)}', '}'],
  ['l&&l(n),', ''],
  ['m&&m(n);', ''],
  [',h&&h(n,t)}', '}'],
  ['s&&s(n);', ''],
  ['a.__h&&a.__h(r,n,f||t),f=0;', ''],
  ['1!=n&&i==a.requestAnimationFrame||((i=a.requestAnimationFrame)||z)(g)', '1==n&&z(g)'],
  // The server, and browsers of long ago
  ['y(t++,3);!a.__s&&', 'y(t++,3);'],
  ['y(t++,4);!a.__s&&', 'y(t++,4);'],
  ['var k="function"==typeof requestAnimationFrame;', ''],
  ['k&&cancelAnimationFrame(t)', 'cancelAnimationFrame(t)'],
  ['k&&(t=requestAnimationFrame(r))', 't=requestAnimationFrame(r)'],
  ['[i?i(u):G(', '[G('],
  // Errors end the page, as above
  ['try{C(n)}catch(t){a.__e(t,{__:(n=n.__P)&&n.__v})}', 'C(n);'],
  [
    'try{t.__h.some(C),t.__h.some(D),t.__h=[]}catch(r){t.__h=[],a.__e(r,n.__v)}',
    't.__h.some(C),t.__h.some(D),t.__h=[];',
  ],
  [
    'try{n.__h.some(C),n.__h=n.__h.filter(function(n){return!n.__||D(n)})}' +
      'catch(t){n.__h=[function(){throw t}]}',
    'n.__h.some(C),n.__h=n.__h.filter(function(n){return!n.__||D(n)})',
  ],
  [
    'try{if(u.__P&&u.__c){if(void 0===r){for(r=n.__;r&&(!r.__c||!r.__c.__P);)r=r.__;' +
      'r=r&&r.__c}u.__P=r,B(e.push(u))}else C(u)}catch(n){t=n}}),u.__H=void 0,t&&a.__e(t,u.__v))',
    'u.__P&&u.__c?B(e.push(u)):C(u)}),u.__H=void 0)',
  ],
];

/** The plugin of the build that replaces these texts. */
export const leanPreact: Plugin = {
  name: 'lean-preact',
  enforce: 'pre',
  transform(code, id) {
    const name = id.replace(/^.*\/preact\//, '');
    const cuts = { 'dist/preact.mjs': CUTS, 'hooks/dist/hooks.mjs': HOOK_CUTS }[name];
    if (cuts === undefined) return undefined;
    let lean = code;
    for (const [text, instead] of cuts) {
      if (lean.split(text).length !== 2) this.error(`Preact has changed: ${text}`);
      lean = lean.replace(text, () => instead);
    }
    return { code: lean, map: null };
  },
};
